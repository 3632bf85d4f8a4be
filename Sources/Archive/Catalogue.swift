// `catalogue.sqlite`, schema version 2. Offsets and counts are the bits of a u64, times nanoseconds
// since 1970, `path` is below the directory.
//
//   archive       one row: key (16 random bytes, of all keyed hashes), created
//   parts         one row a part, see Part.swift
//   part_names    events of each name in a part
//   part_people   whom a part may hold, see PeopleIndex.swift
//   erasures      persons to be erased from the parts, and what that did: see Erasure.swift
//   sink_progress, doubles, double_conflicts, forgotten    of SinkState
//
// The archiver is its only writer while it runs, but for one process that holds `lock.maintenance` and
// replaces parts. What is deleted is overwritten (`secure_delete`).
internal import Database
public import Hashing
internal import Primitives
public import SinkState

/// What an archive holds. It belongs to one thread at a time; other processes read beside the writer.
public struct Catalogue: ~Copyable {
  let database: Database
  /// The archive's directory, as it was given.
  public let directory: String
  /// The key of all keyed hashes in this archive, and what tells it from another.
  public let key: [UInt8]

  /// Opens the catalogue of `directory`, to read it: nothing is made or changed. What a writer that runs
  /// already commits later is seen; to see one that starts later, open it again.
  ///
  /// - Throws: `.missing` when there is none.
  public init(reading directory: String) throws(ArchiveError) {
    let path = directory + "/" + ArchiveNames.catalogue
    guard try FileSystem.isThere(path) else {
      throw ArchiveError(
        .missing, "\(directory) is no archive: it has no \(ArchiveNames.catalogue)")
    }
    do throws(DatabaseError) {
      let database = try Database(readOnly: path, versions: Self.migrations.count)
      key = try Self.key(of: database, else: nil)
      self.database = database
      self.directory = directory
    } catch {
      throw ArchiveError(error)
    }
  }

  /// Opens the catalogue of `directory`, and makes it if it is not there.
  ///
  /// - Parameter key: the key of an archive that is made now; nil: a random one.
  public init(writing directory: String, key: [UInt8]? = nil) throws(ArchiveError) {
    try self.init(directory, key: key ?? SecureRandom.bytes(KeyedHash.keyBytes))
  }

  private init(_ directory: String, key newKey: [UInt8]) throws(ArchiveError) {
    do throws(DatabaseError) {
      let database = try Database(
        directory + "/" + ArchiveNames.catalogue, migrations: Self.migrations, synchronous: .full,
        erases: true)
      // The log is kept small: on a small disk it would take the room of the files.
      try database.execute("PRAGMA wal_autocheckpoint = 128; PRAGMA journal_size_limit = 1048576")
      let key = try Self.key(of: database, else: newKey)
      self.database = database
      self.key = key
      self.directory = directory
    } catch {
      throw ArchiveError(error)
    }
  }

  private static func key(
    of database: borrowing Database, else newKey: [UInt8]?
  ) throws(DatabaseError) -> [UInt8] {
    let query = try database.prepare("SELECT key FROM archive")
    if try query.step() {
      let key = query.bytes(0)
      guard key.count == KeyedHash.keyBytes else {
        throw DatabaseError(
          kind: .corrupt, path: database.path, text: "its key has \(key.count.counted("byte"))")
      }
      return key
    }
    guard let newKey else {
      throw DatabaseError(kind: .corrupt, path: database.path, text: "it has no key")
    }
    let put = try database.prepare("INSERT INTO archive VALUES (1, ?, ?)")
    try put.bind(1, newKey)
    try put.bind(2, SystemClock.realtime())
    try put.run()
    return newKey
  }

  /// Stands for an id in this archive's people indexes and lists.
  public var hash: KeyedHash { KeyedHash(key: key) }

  /// Cursor and ledger of the archiver; nil before it stored any.
  public func progress() throws(ArchiveError) -> SinkProgress? {
    do throws(DatabaseError) {
      return try SinkTables.load(database)
    } catch {
      throw ArchiveError(error)
    }
  }

  private static let migrations = [schema, coverage]

  /// What a part covers, see Part.swift; before, it was taken for what it holds.
  private static let coverage = """
    ALTER TABLE parts ADD COLUMN covered_first INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE parts ADD COLUMN covered_last INTEGER NOT NULL DEFAULT 0;
    UPDATE parts SET covered_first = first, covered_last = last
    """

  private static let schema = """
    CREATE TABLE archive (
      one INTEGER PRIMARY KEY CHECK (one = 1), key BLOB NOT NULL, created INTEGER NOT NULL);
    CREATE TABLE parts (
      id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE,
      epoch INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
      count INTEGER NOT NULL, bytes INTEGER NOT NULL, raw_bytes INTEGER NOT NULL,
      sha256 BLOB NOT NULL,
      min_timestamp INTEGER NOT NULL, max_timestamp INTEGER NOT NULL,
      min_time INTEGER NOT NULL, max_time INTEGER NOT NULL, created INTEGER NOT NULL);
    CREATE UNIQUE INDEX parts_by_position ON parts (epoch, first);
    CREATE TABLE part_names (
      part INTEGER NOT NULL REFERENCES parts, name BLOB NOT NULL, count INTEGER NOT NULL,
      PRIMARY KEY (part, name)) WITHOUT ROWID;
    CREATE INDEX part_names_by_name ON part_names (name, part);
    CREATE TABLE part_people (part INTEGER PRIMARY KEY REFERENCES parts, hashes BLOB NOT NULL);
    CREATE TABLE erasures (
      id INTEGER PRIMARY KEY, person BLOB NOT NULL, epoch INTEGER NOT NULL,
      offset INTEGER NOT NULL, time INTEGER NOT NULL, parts INTEGER NOT NULL,
      events INTEGER NOT NULL, finished INTEGER);
    \(SinkTables.migration);
    \(DoublesTables.migration);
    \(ForgottenTables.migration)
    """
}
