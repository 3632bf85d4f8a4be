/// One connection to a SQLite file. It belongs to one thread at a time; it is not safe to share.
///
/// Write-ahead log, so that readers do not wait for the writer. With `.full` a transaction is on disk
/// when `transaction` returns; with `.normal` the last ones can be lost with the power, never the file.
public struct Database: ~Copyable {
  public enum Synchronous: String, Sendable {
    case full = "FULL"
    case normal = "NORMAL"
  }

  let connection: Connection
  /// Whether it was opened as a file that nobody changes: see `init(readOnly:)`.
  public let isImmutable: Bool

  /// Opens the file, makes it if it is not there, and brings its schema up to date.
  ///
  /// - Parameters:
  ///   - migrations: statements by version: the first makes version 1 of an empty file, and so on. Each
  ///     runs in a transaction of its own. A file of a version beyond them is refused, untouched.
  ///   - erases: overwrites what is deleted with zeros.
  ///   - busyMilliseconds: how long a call waits for another process's lock.
  public init(
    _ path: String, migrations: [String], synchronous: Synchronous = .full, erases: Bool = false,
    busyMilliseconds: Int32 = 5000
  ) throws(DatabaseError) {
    let opened = try Connection(path)
    opened.waitWhenBusy(milliseconds: busyMilliseconds)
    try opened.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = \(synchronous.rawValue)")
    if erases { try opened.run("PRAGMA secure_delete = ON") }
    try Self.migrate(opened, migrations)
    connection = opened
    isImmutable = false
  }

  public var path: String { connection.path }

  /// Runs statements that return nothing.
  public func execute(_ statements: String) throws(DatabaseError) {
    try connection.run(statements)
  }

  public func prepare(_ statement: String) throws(DatabaseError) -> Statement {
    try Statement(connection, statement)
  }

  /// Runs `body` in a transaction: all of it takes effect, or nothing does.
  public func transaction<R>(_ body: () throws(DatabaseError) -> R) throws(DatabaseError) -> R {
    try execute("BEGIN IMMEDIATE")
    do throws(DatabaseError) {
      let result = try body()
      try execute("COMMIT")
      return result
    } catch {
      connection.rollBack()
      throw error
    }
  }

  private static func migrate(
    _ connection: Connection, _ migrations: [String]
  ) throws(DatabaseError) {
    while try version(of: connection, knowing: migrations.count) < migrations.count {
      try connection.run("BEGIN IMMEDIATE")
      do throws(DatabaseError) {
        // Read again under the lock: another process may have come first.
        let version = try version(of: connection, knowing: migrations.count)
        if version < migrations.count {
          try connection.run("\(migrations[version]); PRAGMA user_version = \(version + 1)")
        }
        try connection.run("COMMIT")
      } catch {
        connection.rollBack()
        throw error
      }
    }
  }

  /// Between 0 and `newest`; anything else is refused.
  static func version(
    of connection: Connection, knowing newest: Int
  ) throws(DatabaseError) -> Int {
    let statement = try Statement(connection, "PRAGMA user_version")
    let version = try statement.step() ? Int(statement.integer(0)) : 0
    guard version <= newest else {
      throw DatabaseError(
        kind: .newerSchema, path: connection.path,
        text: "has schema \(version), this program knows up to \(newest): use the newer program")
    }
    guard version >= 0 else {
      throw DatabaseError(kind: .corrupt, path: connection.path, text: "schema \(version)")
    }
    return version
  }
}
