internal import Database
internal import TestSupport
internal import Testing

final class `A statement` {
  let folder: TemporaryFolder
  let database: Database

  init() throws {
    folder = try TemporaryFolder()
    database = try Database(
      folder.file("test.db"), migrations: ["CREATE TABLE t (id INTEGER PRIMARY KEY, v)"])
  }

  private func insert(
    _ bind: (borrowing Statement) throws(DatabaseError) -> Void
  ) throws(DatabaseError) -> Statement {
    let insert = try database.prepare("INSERT INTO t (v) VALUES (?)")
    try bind(insert)
    try insert.run()
    let select = try database.prepare("SELECT v FROM t")
    let found = try select.step()
    #expect(found)
    return select
  }

  @Test(arguments: [Int64.min, -1, 0, 1, .max])
  func `gives back an integer`(value: Int64) throws {
    let row = try insert { statement throws(DatabaseError) in try statement.bind(1, value) }
    let read = row.integer(0)
    #expect(read == value)
  }

  @Test(arguments: [UInt64.min, 1 << 63, .max])
  func `keeps all 64 bits of an unsigned integer`(value: UInt64) throws {
    let row = try insert { statement throws(DatabaseError) in try statement.bind(1, value) }
    let read = row.unsigned(0)
    #expect(read == value)
  }

  @Test(arguments: ["", "Zürich", "nul\u{0}inside", String(repeating: "x", count: 100_000)])
  func `gives back a text`(value: String) throws {
    let row = try insert { statement throws(DatabaseError) in try statement.bind(1, value) }
    let (read, isNull) = (row.text(0), row.isNull(0))
    #expect(read == value)
    #expect(!isNull)
  }

  @Test(arguments: [[], [0], [0, 255, 0], [UInt8](repeating: 7, count: 100_000)])
  func `gives back bytes, and none are not NULL`(value: [UInt8]) throws {
    let row = try insert { statement throws(DatabaseError) in try statement.bind(1, value) }
    let (read, isNull) = (row.bytes(0), row.isNull(0))
    #expect(read == value)
    #expect(!isNull)
  }

  @Test func `gives back NULL and a double`() throws {
    let null = try insert { statement throws(DatabaseError) in try statement.bindNull(1) }
    let isNull = null.isNull(0)
    #expect(isNull)
    try database.execute("DELETE FROM t")
    let row = try insert { statement throws(DatabaseError) in try statement.bind(1, -0.5) }
    let read = row.double(0)
    #expect(read == -0.5)
  }

  @Test func `can be run again after it failed`() throws {
    let insert = try database.prepare("INSERT INTO t (id) VALUES (?)")
    for (id, succeeds) in [(1, true), (1, false), (2, true)] as [(Int64, Bool)] {
      var isStored = true
      do {
        try insert.bind(1, id)
        try insert.run()
      } catch {
        isStored = false
      }
      #expect(isStored == succeeds, "id \(id)")
    }
  }

  @Test func `names itself and its file when it fails`() throws {
    let error = #expect(throws: DatabaseError.self) { _ = try database.prepare("SELECT nothing") }
    #expect(error?.kind == .other)
    #expect(error?.description.contains("SELECT nothing") == true)
    #expect(error?.description.contains(folder.file("test.db")) == true)
  }

  @Test func `keeps its connection open when the database goes first`() throws {
    let other = try Database(folder.file("other.db"), migrations: ["CREATE TABLE t (v)"])
    let count = try other.prepare("SELECT count(*) FROM t")
    _ = consume other
    let hasRow = try count.step()
    #expect(hasRow)
  }
}
