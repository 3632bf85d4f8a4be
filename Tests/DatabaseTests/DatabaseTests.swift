internal import Database
internal import Foundation
internal import TestSupport
internal import Testing

final class `A database` {
  static let schema = ["CREATE TABLE t (v)"]
  let folder: TemporaryFolder
  let database: Database

  init() throws {
    folder = try TemporaryFolder()
    database = try Database(folder.file("test.db"), migrations: Self.schema)
  }

  private func integer(
    _ sql: String, in database: borrowing Database
  ) throws(DatabaseError) -> Int64? {
    let statement = try database.prepare(sql)
    return try statement.step() ? statement.integer(0) : nil
  }

  @Test func `makes files for their user alone`() throws {
    try database.execute("INSERT INTO t VALUES (1)")
    for name in ["test.db", "test.db-wal", "test.db-shm"] {
      let mode = try FileManager.default.attributesOfItem(atPath: folder.file(name))[
        .posixPermissions]
      #expect(mode as? Int == 0o600, "\(name)")
    }
  }

  @Test func `stores nothing of a transaction that throws`() throws {
    #expect(throws: DatabaseError.self) {
      try database.transaction { () throws(DatabaseError) in
        try database.execute("INSERT INTO t VALUES (1)")
        try database.execute("nonsense")
      }
    }
    let count = try integer("SELECT count(*) FROM t", in: database)
    #expect(count == 0)
    // And the next transaction can begin.
    try database.transaction { () throws(DatabaseError) in
      try database.execute("INSERT INTO t VALUES (1)")
    }
  }

  @Test func `keeps through a crash what was committed and nothing else`() throws {
    try database.transaction { () throws(DatabaseError) in
      try database.execute("INSERT INTO t VALUES (1)")
    }
    try database.execute("BEGIN; INSERT INTO t VALUES (2)")
    // What a crash leaves: the files as they are, with nobody to close them.
    for suffix in ["", "-wal"] {
      try folder.copy(folder.file("test.db" + suffix), to: folder.file("crash.db" + suffix))
    }
    let reopened = try Database(folder.file("crash.db"), migrations: Self.schema)
    let count = try integer("SELECT count(*) FROM t", in: reopened)
    #expect(count == 1)
    let check = try reopened.prepare("PRAGMA integrity_check")
    let hasRow = try check.step()
    #expect(hasRow)
    let verdict = check.text(0)
    #expect(verdict == "ok")
  }

  @Test func `reports a full disk and stays usable`() throws {
    // A limit on the file's pages fails as a full disk does.
    try database.execute("PRAGMA max_page_count = 8")
    let error = #expect(throws: DatabaseError.self) {
      try database.transaction { () throws(DatabaseError) in
        try database.execute("INSERT INTO t VALUES (zeroblob(100000))")
      }
    }
    #expect(error?.kind == .diskFull)
    try database.transaction { () throws(DatabaseError) in
      try database.execute("INSERT INTO t VALUES (1)")
    }
    let count = try integer("SELECT count(*) FROM t", in: database)
    #expect(count == 1)
  }

  @Test func `reports a lock that another connection holds`() throws {
    let other = try Database(
      database.path, migrations: Self.schema, busyMilliseconds: 0)
    try database.execute("BEGIN IMMEDIATE")
    let error = #expect(throws: DatabaseError.self) {
      try other.transaction { () throws(DatabaseError) in }
    }
    #expect(error?.kind == .busy)
  }

  @Test func `brings an older schema up step by step`() throws {
    try database.execute("INSERT INTO t VALUES (1)")
    let newer = try Database(
      database.path, migrations: Self.schema + ["ALTER TABLE t ADD COLUMN w DEFAULT 5"])
    let added = try integer("SELECT w FROM t", in: newer)
    let version = try integer("PRAGMA user_version", in: newer)
    #expect(added == 5)
    #expect(version == 2)
  }

  @Test func `keeps the old version when a step fails`() throws {
    #expect(throws: DatabaseError.self) {
      _ = try Database(
        database.path, migrations: Self.schema + ["CREATE TABLE u (v); nonsense"])
    }
    let version = try integer("PRAGMA user_version", in: database)
    let table = try integer("SELECT 1 FROM sqlite_schema WHERE name = 'u'", in: database)
    #expect(version == 1)
    #expect(table == nil)
  }

  @Test func `refuses the schema of a newer program and says so`() throws {
    try database.execute("PRAGMA user_version = 9")
    let error = #expect(throws: DatabaseError.self) {
      _ = try Database(database.path, migrations: Self.schema)
    }
    #expect(error?.kind == .newerSchema)
    #expect(error?.description.contains("use the newer program") == true)
  }

  @Test func `refuses a version that no program of ours wrote`() throws {
    try database.execute("PRAGMA user_version = -1")
    let error = #expect(throws: DatabaseError.self) {
      _ = try Database(folder.file("test.db"), migrations: Self.schema)
    }
    #expect(error?.kind == .corrupt)
  }

  @Test func `is made once by many that open it together`() async throws {
    let path = folder.file("other.db")
    for _ in 0..<50 {
      // In write-ahead mode already: the change to it would let them in one by one.
      let empty = try Database(path, migrations: ["SELECT 1"])
      try empty.execute("DROP TABLE IF EXISTS a; PRAGMA user_version = 0")
      try await withThrowingTaskGroup { group in
        for _ in 0..<4 {
          group.addTask { _ = try Database(path, migrations: ["CREATE TABLE a (v)"]) }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test func `is opened as it was asked to be`() throws {
    let other = try Database(
      folder.file("other.db"), migrations: [], synchronous: .normal, erases: true)
    let erases = try integer("PRAGMA secure_delete", in: other)
    let synchronous = [
      try integer("PRAGMA synchronous", in: other), try integer("PRAGMA synchronous", in: database),
    ]
    #expect(erases == 1)
    #expect(synchronous == [1, 2])
  }

  @Test func `refuses a file that is no database`() throws {
    let path = folder.file("noise.db")
    try folder.store([UInt8](repeating: 0x41, count: 8192), in: path)
    let error = #expect(throws: DatabaseError.self) { _ = try Database(path, migrations: []) }
    #expect(error?.kind == .corrupt)
  }

  @Test func `says which file it cannot open`() throws {
    let path = folder.file("absent/test.db")
    let error = #expect(throws: DatabaseError.self) { _ = try Database(path, migrations: []) }
    #expect(error?.description.contains(path) == true)
  }
}
