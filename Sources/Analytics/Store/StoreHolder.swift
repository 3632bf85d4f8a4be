internal import Database
internal import Primitives

/// A store that may be absent, damaged, or come later. It belongs to the actor that owns it.
final class StoreHolder {
  /// What was found in the file.
  struct Opened {
    var events: [QueuedEvent] = []
    var failure: String?
    /// A file that cannot be used was renamed, and a new one begun.
    var isReplaced = false
    /// There is a file of an earlier launch, and it cannot be read.
    var isUnknown = false
  }

  private let path: String?
  private var store: AnalyticsStore?
  private var isClosed = false
  /// Events were to be erased while the file could not be used: nobody gets those in it any more.
  private var owesErasure = false
  /// Why it is not open.
  private var failure: DatabaseError?
  /// As they are to be on disk.
  private(set) var settings: [String: String] = [:]
  private var areSettingsKept = true

  init(path: String?) { self.path = path }

  var isConfigured: Bool { path != nil }

  /// Opens the file and reads it. A damaged one, or one of a newer program, is renamed.
  func open() -> Opened {
    var opened = Opened()
    guard let path else { return opened }
    let isNew = FileStamp(path) == nil
    do throws(DatabaseError) {
      let store = try Self.openFile(path)
      let found = store.events()
      opened.events = found.events
      if let failure = found.failure { throw failure }
      settings = try store.settings()
      self.store = store
    } catch {
      opened.failure = error.description
      opened.isReplaced = replaceIfDamaged(error)
      opened.isUnknown = !isNew
      // Whatever could be read comes again with the whole, later.
      if !opened.isReplaced { opened.events = [] }
      failure = error
    }
    return opened
  }

  /// Opens a file that could not be opened before, and reads what an earlier launch left in it; nil when
  /// there is nothing to do.
  func openLate() throws(DatabaseError) -> Late? {
    guard let path, store == nil, !isClosed else { return nil }
    let (late, failure) = try readLate(path)
    guard let failure else { return late }
    // What could be read goes out all the same.
    guard replaceIfDamaged(failure) else { throw failure }
    return Late(events: late.events, settings: late.settings, isReplaced: true)
  }

  /// A file with damage is closed again: SQLite would take away what is beside its name when that is a
  /// new one's.
  private func readLate(
    _ path: String
  ) throws(DatabaseError) -> (late: Late, failure: DatabaseError?) {
    let opened = try Self.openFile(path)
    if owesErasure {
      try opened.eraseEvents()
      owesErasure = false
    }
    let found = opened.events()
    let late = Late(events: found.events, settings: try opened.settings())
    if found.failure == nil { store = opened }
    return (late, found.failure)
  }

  /// What an earlier launch left.
  struct Late {
    var events: [QueuedEvent]
    var settings: [String: String]
    /// The file was damaged and renamed, and a new one begun.
    var isReplaced = false
  }

  /// Makes the folder too: on a new device an app's own may not be there yet.
  private static func openFile(_ path: String) throws(DatabaseError) -> AnalyticsStore {
    if let folder = Folders.parent(of: path) {
      do throws(SystemError) { try Folders.make(folder, mode: 0o700) } catch {
        // The store is about to say that it has no folder.
      }
    }
    return try AnalyticsStore(path)
  }

  func apply(save: [QueuedEvent], delete: [ClosedRange<Int64>]) throws(DatabaseError) {
    try use { store throws(DatabaseError) in try store.apply(save: save, delete: delete) }
  }

  /// Keeps one setting; nil takes it out.
  func set(_ name: String, _ value: String?) throws(DatabaseError) {
    guard settings[name] != value || !areSettingsKept else { return }
    settings[name] = value
    try writeSettings()
  }

  /// Keeps these in the place of all settings, and leaves no trace of the old ones.
  func replaceSettings(_ new: [String: String]) throws(DatabaseError) {
    guard settings != new || !areSettingsKept else { return }
    settings = new
    try writeSettings()
  }

  /// Leaves no trace of the events in the file, also where it was not open so far.
  func eraseEvents() throws(DatabaseError) {
    guard let path else { return }
    owesErasure = true
    if let store { try store.eraseEvents() } else { try Self.openFile(path).eraseEvents() }
    owesErasure = false
  }

  /// Renames a file whose damage showed and begins a new one; false where that is not the trouble, or
  /// where it is not possible now.
  func replaceIfDamaged(_ error: DatabaseError) -> Bool {
    guard error.kind == .corrupt || error.kind == .newerSchema, let path else { return false }
    store = nil
    guard AnalyticsStore.moveAside(path, at: .now()) != nil else { return false }
    do throws(DatabaseError) {
      store = try AnalyticsStore(path)
      try store?.replaceSettings(settings)
      return true
    } catch {
      store = nil
      return false
    }
  }

  func close() {
    store = nil
    isClosed = true
  }

  private func writeSettings() throws(DatabaseError) {
    let settings = settings
    areSettingsKept = false
    try use { store throws(DatabaseError) in
      try store.replaceSettings(settings)
      try store.checkpoint()
    }
    areSettingsKept = true
  }

  private func use(
    _ body: (AnalyticsStore) throws(DatabaseError) -> Void
  ) throws(DatabaseError) {
    guard let path else { return }
    if let store { return try body(store) }
    throw failure ?? DatabaseError(kind: .other, path: path, text: "closed")
  }
}
