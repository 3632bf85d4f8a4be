// What an app's analytics keep on disk, in SQLite:
//
//   user_version 1 (a newer one is moved aside)
//   event    id    rising in the order of tracking
//            body  the event as JSON, without `sentAt`
//   setting  name, value: who the app's user is, and what was chosen (see AnalyticsSettings.swift)
//
// A row of `event` goes when the server has it. Committed means that it survives the process, however it
// ends; the last transactions before a loss of power may be lost (synchronous = NORMAL). What is deleted
// is overwritten.
internal import Database
internal import Primitives

/// One open file. It belongs to one thread at a time.
final class AnalyticsStore {
  private let database: Database
  private let insert: Statement
  private let delete: Statement

  /// Opens or makes the file, for this process alone.
  init(_ path: String) throws(DatabaseError) {
    let database = try Database(
      path, migrations: [Self.schema], synchronous: .normal, erases: true, busyMilliseconds: 250)
    // Another process that had the file too would send the same events, and give the same ids twice.
    try database.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT")
    let insert = try database.prepare("INSERT INTO event (id, body) VALUES (?, ?)")
    let delete = try database.prepare("DELETE FROM event WHERE id BETWEEN ? AND ?")
    self.database = database
    self.insert = insert
    self.delete = delete
  }

  private static let schema = """
    CREATE TABLE event (id INTEGER PRIMARY KEY, body BLOB NOT NULL);
    CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL)
    """

  /// All events, oldest first; as many as can be read, and why no more.
  func events() -> (events: [QueuedEvent], failure: DatabaseError?) {
    var events: [QueuedEvent] = []
    var damage: DatabaseError?
    do throws(DatabaseError) {
      let find = try database.prepare("SELECT id, body FROM event ORDER BY id")
      while try find.step() {
        let event = QueuedEvent(id: find.integer(0), body: find.bytes(1))
        if Self.isOurs(event) {
          events.append(event)
        } else {
          damage = DatabaseError(
            kind: .corrupt, path: database.path, text: "event \(event.id) is none of ours")
        }
      }
      return (events, damage)
    } catch {
      return (events, error)
    }
  }

  /// What is no object cannot be completed and sent, and what has the last place there is leaves none.
  private static func isOurs(_ event: QueuedEvent) -> Bool {
    event.id.magnitude < 1 << 60 && event.body.first == UInt8(ascii: "{")
      && event.body.last == UInt8(ascii: "}")
  }

  /// Writes and deletes in one transaction.
  func apply(
    save: [QueuedEvent], delete ranges: [ClosedRange<Int64>]
  ) throws(DatabaseError) {
    try database.transaction { () throws(DatabaseError) in
      for range in ranges {
        try delete.bind(1, range.lowerBound)
        try delete.bind(2, range.upperBound)
        try delete.run()
      }
      for event in save {
        try insert.bind(1, event.id)
        try insert.bind(2, event.body)
        try insert.run()
      }
    }
  }

  func settings() throws(DatabaseError) -> [String: String] {
    var settings: [String: String] = [:]
    let find = try database.prepare("SELECT name, value FROM setting")
    while try find.step() { settings[find.text(0)] = find.text(1) }
    return settings
  }

  /// Puts these in the place of all settings.
  func replaceSettings(_ settings: [String: String]) throws(DatabaseError) {
    try database.transaction { () throws(DatabaseError) in
      try database.execute("DELETE FROM setting")
      let write = try database.prepare("INSERT INTO setting (name, value) VALUES (?, ?)")
      for (name, value) in settings {
        try write.bind(1, name)
        try write.bind(2, value)
        try write.run()
      }
    }
  }

  /// Deletes all events; nothing of them is left in the file or beside it.
  func eraseEvents() throws(DatabaseError) {
    try database.execute("DELETE FROM event; PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// The same for whatever was replaced among the settings.
  func checkpoint() throws(DatabaseError) {
    try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// Renames a file that cannot be used, with what belongs to it, so that a new one can begin. Returns
  /// its new name, nil where it could not be renamed.
  static func moveAside(_ path: String, at now: Timestamp) -> String? {
    let aside = "\(path).damaged-\(now.nanoseconds / 1_000_000)"
    do throws(SystemError) {
      return try DatabaseFiles.moveAside(path, to: aside) ? aside : nil
    } catch { return nil }
  }
}
