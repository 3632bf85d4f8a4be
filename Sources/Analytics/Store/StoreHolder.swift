internal import Database
internal import Primitives

/// A store that may be absent, damaged, or come later. It belongs to the actor that owns it.
final class StoreHolder {
  /// What was found at the start.
  struct Opened {
    var events: [QueuedEvent] = []
    var failure: String?
    /// A file that cannot be used was renamed, and a new one begun.
    var isReplaced = false
  }

  private let path: String?
  private var store: AnalyticsStore?
  /// As they are to be on disk.
  private(set) var settings: [String: String] = [:]

  init(path: String?) { self.path = path }

  var isConfigured: Bool { path != nil }

  /// Opens the file and reads it. A damaged one, or one of a newer program, is renamed.
  func open() -> Opened {
    var opened = Opened()
    guard let path else { return opened }
    do throws(DatabaseError) {
      let store = try AnalyticsStore(path)
      let found = store.events()
      opened.events = found.events
      if let failure = found.failure { throw failure }
      settings = try store.settings()
      self.store = store
    } catch {
      opened.failure = error.description
      opened.isReplaced = replaceIfDamaged(error)
    }
    return opened
  }

  func apply(save: [QueuedEvent], delete: [ClosedRange<Int64>]) throws(DatabaseError) {
    try use { store throws(DatabaseError) in try store.apply(save: save, delete: delete) }
  }

  /// Keeps one setting; nil takes it out.
  func set(_ name: String, _ value: String?) throws(DatabaseError) {
    guard settings[name] != value else { return }
    settings[name] = value
    try writeSettings()
  }

  /// Keeps these in the place of all settings, and leaves no trace of the old ones.
  func replaceSettings(_ new: [String: String]) throws(DatabaseError) {
    guard settings != new else { return }
    settings = new
    try writeSettings()
  }

  func eraseEvents() throws(DatabaseError) {
    try use { store throws(DatabaseError) in try store.eraseEvents() }
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

  func close() { store = nil }

  private func writeSettings() throws(DatabaseError) {
    let settings = settings
    try use { store throws(DatabaseError) in
      try store.replaceSettings(settings)
      try store.checkpoint()
    }
  }

  /// Opens the file first where that did not work before.
  private func use(
    _ body: (AnalyticsStore) throws(DatabaseError) -> Void
  ) throws(DatabaseError) {
    guard let path else { return }
    if let store { return try body(store) }
    let opened = try AnalyticsStore(path)
    try opened.replaceSettings(settings)
    store = opened
    try body(opened)
  }
}
