import BusProtocol
import Database
import EventModel
import Hashing
import Primitives
import SinkState
import TestSupport
import Testing

@Suite struct DoublesTests {
  static let key = KeyedHash(key: [UInt8](repeating: 9, count: 16))

  /// What `Doubles` is to find, written down plainly.
  struct Model {
    let horizon: UInt64
    var kept: [String: (offset: UInt64, value: Int)] = [:]

    mutating func check(_ id: String, _ value: Int, _ offset: UInt64) -> Doubles.Verdict {
      if let seen = kept[id], offset - seen.offset <= horizon {
        return seen.value == value ? .double : .conflict
      }
      kept[id] = (offset, value)
      return .new
    }
  }

  static func check(
    _ doubles: inout Doubles, _ event: SampleEvent, _ offset: UInt64, epoch: UInt32 = 1
  ) throws -> Doubles.Verdict {
    let payload = event.payload
    let name = Array(event.name.utf8)
    return try unsafe doubles.check(
      event.fields, of: payload.span.bytes, name: name.span.bytes,
      at: Position(epoch: epoch, offset: offset))
  }

  @Test func `the same name and id within the horizon is a double`() throws {
    var doubles = Doubles(key: Self.key, horizon: 10)
    let event = SampleEvent(messageId: "m")
    #expect(try Self.check(&doubles, event, 5) == .new)
    #expect(try Self.check(&doubles, event, 15) == .double)
    #expect(try Self.check(&doubles, SampleEvent(name: "Bought", messageId: "m"), 15) == .new)
    #expect(try Self.check(&doubles, event, 16) == .new)
  }

  @Test func `events without an id always count`() throws {
    var doubles = Doubles(key: Self.key)
    for offset in 0..<3 as Range<UInt64> {
      #expect(try Self.check(&doubles, SampleEvent(), offset) == .new)
      #expect(try Self.check(&doubles, SampleEvent(messageId: ""), offset) == .new)
    }
  }

  @Test func `the same id with other content is listed`() throws {
    var doubles = Doubles(key: Self.key)
    #expect(try Self.check(&doubles, SampleEvent(messageId: "000", value: 1), 0) == .new)
    #expect(try Self.check(&doubles, SampleEvent(messageId: "000", value: 2), 7) == .conflict)
    #expect(doubles.conflictCount == 1)
    #expect(
      doubles.conflicts == [
        Doubles.Conflict(
          place: Position(epoch: 1, offset: 7), name: Array("Sold".utf8),
          messageId: Array("000".utf8))
      ])
  }

  @Test func `the list of conflicts is bounded and the count is not`() throws {
    var doubles = Doubles(key: Self.key)
    _ = try Self.check(&doubles, SampleEvent(messageId: "000"), 0)
    for offset in 1...150 as ClosedRange<UInt64> {
      _ = try Self.check(&doubles, SampleEvent(messageId: "000", value: 1), offset)
    }
    #expect(doubles.conflictCount == 150)
    #expect(doubles.conflicts.map(\.place.offset) == Array(51...150))
  }

  @Test func `what a new epoch gives again at lower offsets is a double`() throws {
    var doubles = Doubles(key: Self.key, horizon: 10)
    #expect(try Self.check(&doubles, SampleEvent(messageId: "a"), 1000) == .new)
    #expect(try Self.check(&doubles, SampleEvent(messageId: "a"), 3, epoch: 2) == .double)
    #expect(try Self.check(&doubles, SampleEvent(messageId: "b"), 4, epoch: 2) == .new)
    #expect(try Self.check(&doubles, SampleEvent(messageId: "b"), 5, epoch: 2) == .double)
  }

  @Test func `no more is kept than the horizon has offsets`() throws {
    var doubles = Doubles(key: Self.key, horizon: 10)
    for offset in 0..<100 as Range<UInt64> {
      _ = try Self.check(&doubles, SampleEvent(messageId: .string("\(offset)")), offset)
      #expect(doubles.count <= 11)
    }
  }

  @Test(arguments: [1, 7, 300, 70_000])
  func `any order of events gives what the rule says`(horizon: Int) throws {
    var random = SeededRandom(seed: UInt64(horizon))
    var doubles = Doubles(key: Self.key, horizon: horizon)
    var model = Model(horizon: UInt64(horizon))
    var offset: UInt64 = 0
    for _ in 0..<4000 {
      offset += UInt64.random(in: 1...UInt64(max(2, horizon / 150)), using: &random)
      let id = "\(Int.random(in: 0..<400, using: &random))"
      let value = Int.random(in: 0..<8, using: &random) / 7
      let verdict = try Self.check(
        &doubles, SampleEvent(messageId: .string(id), value: value), offset)
      #expect(verdict == model.check(id, value, offset), "at \(offset)")
    }
  }

  @Test(arguments: [5, 300, 70_000])
  func `what was stored is found again after a restart`(horizon: Int) throws {
    let folder = try TemporaryFolder()
    var random = SeededRandom(seed: 3)
    let database = try Database(folder.file("d"), migrations: [DoublesTables.migration])
    var model = Model(horizon: UInt64(horizon))
    var doubles = try DoublesTables.load(database, key: Self.key, horizon: horizon)
    var offset: UInt64 = 0
    for _ in 0..<60 {
      for _ in 0..<Int.random(in: 0..<60, using: &random) {
        offset += UInt64.random(in: 1...3, using: &random)
        let id = "\(Int.random(in: 0..<300, using: &random))"
        let verdict = try Self.check(&doubles, SampleEvent(messageId: .string(id)), offset)
        #expect(verdict == model.check(id, 0, offset), "at \(offset)")
      }
      try database.transaction { () throws(DatabaseError) in
        try DoublesTables.store(doubles, in: database)
      }
      doubles.markSaved()
      if Bool.random(using: &random) {
        let before = (doubles.conflictCount, doubles.conflicts)
        doubles = try DoublesTables.load(database, key: Self.key, horizon: horizon)
        #expect(doubles.conflictCount == before.0)
        #expect(doubles.conflicts == before.1)
      }
    }
  }

  @Test func `many small commits leave few rows`() throws {
    let folder = try TemporaryFolder()
    let database = try Database(
      folder.file("d"), migrations: [DoublesTables.migration], synchronous: .normal)
    var doubles = Doubles(key: Self.key, horizon: 300)
    for offset in 0..<1000 as Range<UInt64> {
      _ = try Self.check(&doubles, SampleEvent(messageId: .string("\(offset)")), offset)
      try DoublesTables.store(doubles, in: database)
      doubles.markSaved()
    }
    let rows = try database.prepare("SELECT COUNT(*), SUM(count) FROM doubles")
    #expect(try rows.step())
    #expect(rows.integer(0) <= 16)
    // Live ones, and those of rows that are not wholly beyond the horizon.
    #expect((300...600).contains(rows.integer(1)))
  }

  /// Rows of first, count and the entries' bytes.
  private func load(_ rows: [(Int64, Int64, Int)]) throws -> Int {
    let folder = try TemporaryFolder()
    let database = try Database(folder.file("d"), migrations: [DoublesTables.migration])
    for (first, count, bytes) in rows {
      try database.execute("INSERT INTO doubles VALUES (\(first), \(count), 9, zeroblob(\(bytes)))")
    }
    return try DoublesTables.load(database, key: Self.key).count
  }

  @Test func `rows that follow each other are read, whatever the first number`() throws {
    #expect(try load([(7, 2, 48), (9, 1, 24)]) == 3)
  }

  @Test(
    arguments: [
      // A page of zeros: no table is large enough to tell so many equal hashes apart.
      [(0, 65_536, 65_536 * 24)],
      [(0, 2, 48), (3, 1, 24)], [(0, 2, 48), (1, 1, 24)], [(0, 3, 48)], [(0, 1, 23)],
      [(1 << 60, 1, 24)], [(-1, 1, 24)],
    ] as [[(Int64, Int64, Int)]])
  func `a memory that cannot be is refused as damage`(_ rows: [(Int64, Int64, Int)]) throws {
    let error = #expect(throws: DatabaseError.self) { try load(rows) }
    #expect(error?.kind == .corrupt)
  }
}
