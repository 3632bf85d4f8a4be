// The aggregator's SQLite file, DIR/aggregator.sqlite:
//
//   sink_progress, doubles, double_conflicts, double_totals, forgotten    see SinkState
//   secret      one row: the key of all hashes
//   clock       one row: highest timestamp and watermark, nanoseconds
//   report      id, name, signature of what it counts, counters (expired: events of windows that were
//               kept long enough and deleted), filling: 1 until its past is counted
//   window      report, start (first second), end (the one after the last), state: WindowState.swift
//   track       report, user (hash), state: what a report of users keeps of each
//   joined      id, person: hashes that identify and alias joined
internal import Database
internal import Hashing
internal import Primitives
internal import SinkState

/// What the aggregator keeps. State, cursor and ledger are written in one transaction, so each event takes
/// effect once however the process ends. One thread uses it, in one process.
final class AggregatorStore {
  static let fileName = "aggregator.sqlite"

  static let migrations = [
    [
      SinkTables.migration, DoublesTables.migration, ForgottenTables.migration,
      """
      CREATE TABLE secret (one INTEGER PRIMARY KEY CHECK (one = 1), key BLOB NOT NULL);
      CREATE TABLE clock (
        one INTEGER PRIMARY KEY CHECK (one = 1), highest INTEGER NOT NULL,
        watermark INTEGER NOT NULL);
      CREATE TABLE report (
        id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, signature TEXT NOT NULL,
        matched INTEGER NOT NULL, late INTEGER NOT NULL, without_user INTEGER NOT NULL,
        unreadable INTEGER NOT NULL, trimmed INTEGER NOT NULL, filling INTEGER NOT NULL);
      CREATE TABLE window (
        report INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, state BLOB NOT NULL,
        PRIMARY KEY (report, start));
      CREATE TABLE track (
        report INTEGER NOT NULL, user INTEGER NOT NULL, state BLOB NOT NULL,
        PRIMARY KEY (report, user)) WITHOUT ROWID;
      CREATE TABLE joined (id INTEGER PRIMARY KEY, person INTEGER NOT NULL)
      """,
    ].joined(separator: ";\n"),
    "ALTER TABLE report ADD COLUMN expired INTEGER NOT NULL DEFAULT 0",
  ]

  /// All but the key of hashes, and whom to forget: no archive knows that any more.
  static let recountedTables = [
    "sink_progress", "doubles", "double_conflicts", "double_totals", "clock", "report", "window",
    "track", "joined",
  ]

  let database: Database
  let key: KeyedHash
  private let readWindow: Statement
  private let readTrack: Statement

  /// - Parameter key: what a new file takes for its hashes; a random one unless it is given.
  init(_ path: String, key: [UInt8]? = nil) throws(AggregatorError) {
    do throws(DatabaseError) {
      let database = try Database(path, migrations: Self.migrations, erases: true)
      self.key = try Self.secret(database, orElse: key)
      readWindow = try database.prepare("SELECT state FROM window WHERE report = ? AND start = ?")
      readTrack = try database.prepare("SELECT state FROM track WHERE report = ? AND user = ?")
      self.database = database
    } catch { throw .database(error) }
  }

  private static func secret(
    _ database: borrowing Database, orElse given: [UInt8]?
  ) throws(DatabaseError) -> KeyedHash {
    if let key = try secret(database) { return KeyedHash(key: key) }
    let key = given ?? SecureRandom.bytes(KeyedHash.keyBytes)
    let put = try database.prepare("INSERT OR REPLACE INTO secret VALUES (1, ?)")
    try put.bind(1, key)
    try put.run()
    return KeyedHash(key: key)
  }

  private static func secret(_ database: borrowing Database) throws(DatabaseError) -> [UInt8]? {
    let read = try database.prepare("SELECT key FROM secret")
    guard try read.step() else { return nil }
    let key = read.bytes(0)
    return key.count == KeyedHash.keyBytes ? key : nil
  }

  /// The key of another file; nil when it has none yet.
  static func key(of path: String) throws(AggregatorError) -> [UInt8]? {
    do throws(DatabaseError) {
      return try secret(try Database(path, migrations: migrations))
    } catch { throw .database(error) }
  }

  /// What was stored; nil for a new file, which knows no place in the journal yet.
  func load(_ horizon: Int = Doubles.defaultHorizon) throws(AggregatorError) -> AggregatorCore? {
    do throws(DatabaseError) {
      guard let progress = try SinkTables.load(database) else { return nil }
      let people = try Self.people(database)
      let clock = try database.prepare("SELECT highest, watermark FROM clock")
      let hasClock = try clock.step()
      return AggregatorCore(
        progress: progress,
        doubles: try DoublesTables.load(database, key: key, horizon: horizon),
        forgotten: try ForgottenTables.load(database, key: key), people: people,
        highest: hasClock ? clock.integer(0) : .min,
        watermark: hasClock ? clock.integer(1) : .min)
    } catch { throw .database(error) }
  }
}

extension AggregatorStore {
  static func people(_ database: borrowing Database) throws(DatabaseError) -> PeopleJoin {
    var people = PeopleJoin()
    let joins = try database.prepare("SELECT id, person FROM joined")
    while try joins.step() {
      let join = PeopleJoin.Join(id: joins.unsigned(0), person: joins.unsigned(1))
      guard people.restore(join) else {
        throw DatabaseError(
          kind: .corrupt, path: database.path, text: "person \(join.person) is joined in a ring")
      }
    }
    return people
  }

  /// From the first second of a window to the one after its last.
  static func range(
    _ row: borrowing Statement, _ database: borrowing Database
  ) throws(DatabaseError) -> Range<Int64> {
    guard row.integer(0) < row.integer(1) else {
      throw DatabaseError(
        kind: .corrupt, path: database.path,
        text: "a window from \(row.integer(0)) ends at \(row.integer(1))")
    }
    return row.integer(0)..<row.integer(1)
  }
}

extension AggregatorStore: StateSource {
  func window(report: Int64, start: Int64) throws(AggregatorError) -> [UInt8]? {
    do throws(DatabaseError) {
      return try Self.blob(readWindow, report, start)
    } catch { throw .database(error) }
  }

  func track(report: Int64, user: UInt64) throws(AggregatorError) -> [UInt8]? {
    do throws(DatabaseError) {
      return try Self.blob(readTrack, report, Int64(bitPattern: user))
    } catch { throw .database(error) }
  }

  private static func blob(
    _ statement: borrowing Statement, _ first: Int64, _ second: Int64
  ) throws(DatabaseError) -> [UInt8]? {
    try statement.bind(1, first)
    try statement.bind(2, second)
    let bytes = try statement.step() ? statement.bytes(0) : nil
    try statement.reset()
    return bytes
  }
}
