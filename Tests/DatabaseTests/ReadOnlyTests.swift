import Database
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite struct ReadOnlyTests {
  let folder: TemporaryFolder
  private static let migrations = ["CREATE TABLE t (a INTEGER)"]

  init() throws { folder = try TemporaryFolder() }

  private func write(_ value: Int64, _ database: borrowing Database) throws {
    try database.execute("INSERT INTO t VALUES (\(value))")
  }

  private func sum(_ database: borrowing Database) throws -> Int64 {
    let query = try database.prepare("SELECT SUM(a) FROM t")
    return try query.step() ? query.integer(0) : -1
  }

  private func names() throws -> [String] {
    ["a?b#%.db", "a?b#%.db-wal", "a?b#%.db-shm"].filter { name in
      unsafe access(folder.file(name), F_OK) == 0
    }
  }

  @Test func `a database without a writer is read and no file is made`() throws {
    let path = folder.file("a?b#%.db")
    do {
      let writer = try Database(path, migrations: Self.migrations)
      try write(5, writer)
    }
    let before = try names()
    let state = Database.fileState(path)
    let reader = try Database(readOnly: path, versions: 1)
    let isImmutable = reader.isImmutable
    #expect(isImmutable)
    #expect(try sum(reader) == 5)
    #expect(try names() == before)
    #expect(before == ["a?b#%.db"])
    #expect(Database.fileState(path) == state)
  }

  @Test func `beside a writer a reader sees what is committed and cannot write`() throws {
    let path = folder.file("a?b#%.db")
    let writer = try Database(path, migrations: Self.migrations)
    try write(5, writer)
    let reader = try Database(readOnly: path, versions: 1)
    let isImmutable = reader.isImmutable
    #expect(!isImmutable)
    #expect(try sum(reader) == 5)
    try write(6, writer)
    #expect(try sum(reader) == 11)
    #expect(throws: DatabaseError.self) { try reader.execute("INSERT INTO t VALUES (1)") }
  }

  @Test func `another schema than the known one is refused`() throws {
    let path = folder.file("a?b#%.db")
    _ = try Database(path, migrations: Self.migrations)
    for versions in [0, 2] {
      #expect(throws: DatabaseError.self) { _ = try Database(readOnly: path, versions: versions) }
    }
  }

  @Test func `a file that is not there is not made`() throws {
    #expect(throws: DatabaseError.self) {
      _ = try Database(readOnly: folder.file("a?b#%.db"), versions: 1)
    }
    #expect(try names() == [])
  }
}
