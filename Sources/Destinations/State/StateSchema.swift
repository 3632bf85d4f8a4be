// A destination's state.sqlite, version 1:
//
//   sink_progress   cursor, seek generation and ledger (SinkTables.swift)
//   forgotten       people who asked to be forgotten, by keyed hashes (ForgottenTables.swift)
//   people_key      one row: the key of these hashes
//   letters         a dead letter a row: id; state (0 kept, 1 to be sent again); epoch and offset where
//                   the bus had it; received and died, nanoseconds since 1970; origin (validation,
//                   destination, failing), reason, status (0: no answer), answer, tries, route; edited;
//                   payload, the envelope as MessagePack; bytes that it counts for
//   letter_totals   one row, kept by triggers: count, bytes and queued of `letters`; dropped
//   status          one row, written by the running publisher: when, state and its reason, events waiting,
//                   when the bus took the oldest (NULL: none), lag, events a second, and the JSON of /status
//
// Cursor, ledger and the dead letters they count change in one transaction. A version beyond 1 is refused
// and left untouched. Deleted rows are overwritten with zeros.
public import Database
internal import SinkState

/// How the state file is made and opened.
public enum StateSchema {
  static let migrations: [String] = [
    [
      SinkTables.migration, ForgottenTables.migration,
      "CREATE TABLE people_key (one INTEGER PRIMARY KEY CHECK (one = 1), key BLOB NOT NULL)",
      """
      CREATE TABLE letters (
        id INTEGER PRIMARY KEY AUTOINCREMENT, state INTEGER NOT NULL,
        epoch INTEGER NOT NULL, offset INTEGER NOT NULL,
        received INTEGER NOT NULL, died INTEGER NOT NULL,
        origin TEXT NOT NULL, reason TEXT NOT NULL, status INTEGER NOT NULL, answer TEXT NOT NULL,
        tries INTEGER NOT NULL, route TEXT NOT NULL, edited INTEGER NOT NULL, bytes INTEGER NOT NULL,
        payload BLOB NOT NULL)
      """,
      "CREATE INDEX letters_queued ON letters (id) WHERE state = 1",
      """
      CREATE TABLE letter_totals (
        one INTEGER PRIMARY KEY CHECK (one = 1), count INTEGER NOT NULL, bytes INTEGER NOT NULL,
        queued INTEGER NOT NULL, dropped INTEGER NOT NULL)
      """,
      "INSERT INTO letter_totals VALUES (1, 0, 0, 0, 0)",
      """
      CREATE TRIGGER letter_added AFTER INSERT ON letters BEGIN
        UPDATE letter_totals SET count = count + 1, bytes = bytes + NEW.bytes,
          queued = queued + NEW.state;
      END
      """,
      """
      CREATE TRIGGER letter_removed AFTER DELETE ON letters BEGIN
        UPDATE letter_totals SET count = count - 1, bytes = bytes - OLD.bytes,
          queued = queued - OLD.state;
      END
      """,
      """
      CREATE TRIGGER letter_changed AFTER UPDATE OF state, bytes ON letters BEGIN
        UPDATE letter_totals SET bytes = bytes + NEW.bytes - OLD.bytes,
          queued = queued + NEW.state - OLD.state;
      END
      """,
      """
      CREATE TABLE status (
        one INTEGER PRIMARY KEY CHECK (one = 1), time INTEGER NOT NULL, state TEXT NOT NULL,
        reason TEXT NOT NULL, waiting INTEGER NOT NULL, oldest INTEGER, lag INTEGER NOT NULL,
        rate REAL NOT NULL, json TEXT NOT NULL)
      """,
    ].joined(separator: ";\n")
  ]

  /// Opens the file, and makes it when it is not there.
  public static func open(_ path: String) throws(DatabaseError) -> Database {
    try Database(path, migrations: migrations, erases: true)
  }

  /// Opens a file that is there, to read it beside its publisher.
  public static func openReadOnly(_ path: String) throws(DatabaseError) -> Database {
    try Database(readOnly: path, versions: migrations.count)
  }

  /// Reads all of it; false when SQLite finds damage.
  static func isSound(_ database: borrowing Database) throws(DatabaseError) -> Bool {
    let check = try database.prepare("PRAGMA quick_check(1)")
    return try check.step() && check.text(0) == "ok"
  }
}
