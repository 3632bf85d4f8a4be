import BusProtocol
import Database
import Hashing
import Primitives
import SinkState
import TestSupport
import Testing

@testable import Destinations

/// The state file of a destination.
struct DeliveryStoreTests {
  private static let now = Timestamp(nanoseconds: 1_796_032_800_000_000_000)

  private func store(_ folder: TemporaryFolder, bytes: Int = 1 << 20) throws -> DeliveryStore {
    try DeliveryStore(
      DestinationFolder(data: folder.path, name: "segment"), route: "POST x", letterBytes: bytes,
      now: Self.now)
  }

  private func settlement(
    _ offsets: Range<UInt64>, bytes: Int = 10, cursor: UInt64? = nil
  ) -> Settlement {
    var settlement = Settlement()
    var progress = SinkProgress(start: Position(epoch: 1, offset: 0))
    progress.ledger.dead = UInt64(offsets.count)
    progress.advance(to: Position(epoch: 1, offset: cursor ?? offsets.upperBound))
    settlement.progress = progress
    settlement.letters = offsets.map { offset in
      let event = DeliveryEvent(
        EventSource(position: Position(epoch: 1, offset: offset), received: Self.now), key: 1,
        payload: [UInt8](repeating: 7, count: bytes), item: [])
      return (event, Refusal(.destination, "bad", status: 400, answer: "no", tries: 2))
    }
    settlement.count = offsets.count
    return settlement
  }

  @Test func `cursor, ledger and dead letters come back together`() throws {
    let folder = try TemporaryFolder()
    do {
      var store = try store(folder)
      #expect(try store.progress() == nil)
      _ = try store.commit(settlement(0..<3, cursor: 9), at: Self.now)
    }
    let store = try store(folder)
    #expect(try store.progress()?.cursor == Position(epoch: 1, offset: 9))
    #expect(try store.progress()?.ledger.dead == 3)
    #expect(try store.progress()?.ledger.notMatched == 6)
    let totals = try store.letterTotals()
    #expect(totals == .init(count: 3, bytes: 3 * 510, queued: 0, dropped: 0))
  }

  @Test func `what is sent again is dropped when delivered, and kept when refused`() throws {
    let folder = try TemporaryFolder()
    var store = try store(folder)
    _ = try store.commit(settlement(0..<3), at: Self.now)
    try store.withDatabase { database throws(DatabaseError) in
      #expect(try DeadLetters.queue(1, in: database))
      #expect(try DeadLetters.queue(2, in: database))
      #expect(try !DeadLetters.queue(9, in: database))
      // While it is sent it is not to be changed.
      #expect(try !DeadLetters.edit(1, payload: [1], in: database))
      #expect(try DeadLetters.edit(3, payload: [1, 2], in: database))
    }
    #expect(try store.queuedLetters(from: 0, limit: 10).map(\.id) == [1, 2])
    #expect(try store.queuedLetters(from: 2, limit: 10).map(\.id) == [2])
    var again = Settlement()
    again.redriven = [(1, .delivered), (2, .dead(Refusal(.destination, "worse", tries: 1)))]
    again.count = 2
    _ = try store.commit(again, at: Self.now)
    try store.withDatabase { database throws(DatabaseError) in
      #expect(try DeadLetters.find(1, in: database) == nil)
      let second = try DeadLetters.find(2, in: database)
      #expect(second?.state == .kept)
      #expect(second?.refusal.reason == "worse")
      #expect(second?.refusal.tries == 3)
      let third = try DeadLetters.find(3, in: database)
      #expect(third?.payload == [1, 2])
      #expect(third?.isEdited == true)
    }
    #expect(try store.letterTotals() == .init(count: 2, bytes: 510 + 502, queued: 0, dropped: 0))
  }

  @Test func `beyond its bytes the oldest go, and are counted`() throws {
    let folder = try TemporaryFolder()
    var store = try store(folder, bytes: 300_000)
    #expect(try store.commit(settlement(0..<200, bytes: 1000), at: Self.now) == 0)
    #expect(try store.commit(settlement(200..<300, bytes: 1000), at: Self.now) == 100)
    let totals = try store.letterTotals()
    #expect(totals == .init(count: 200, bytes: 300_000, queued: 0, dropped: 100))
  }

  @Test func `a forgotten person's dead letters are erased`() throws {
    let folder = try TemporaryFolder()
    var store = try store(folder)
    var written = settlement(0..<2)
    written.letters[0].event.payload = Self.payload(user: "ada")
    written.letters[1].event.payload = Self.payload(user: "bob")
    _ = try store.commit(written, at: Self.now)
    let person = try #require(PersonHash.hash("ada", by: store.peopleKey))
    let place = Position(epoch: 1, offset: 5)
    var forget = Settlement()
    forget.forgets = [ForgetMark([.init(person: person, place: place, time: 9)], at: place)]
    forget.count = 1
    _ = try store.commit(forget, at: Self.now)
    #expect(try store.letterTotals().count == 1)
    #expect(store.forgotten[person] != nil)
  }

  static func payload(user: String) -> [UInt8] {
    var writer = MessagePackWriter()
    writer.writeMapHeader(2)
    writer.write("type")
    writer.write("track")
    writer.write("userId")
    writer.write(user)
    return writer.bytes
  }

  @Test(arguments: ["segment", "a b", "../x", ".hidden", "Ä/ö", "..", "a.b-c_d"])
  func `a name is one folder, whatever is in it`(_ name: String) {
    let folder = DestinationFolder(data: "/data", name: name)
    #expect(folder.path.hasPrefix("/data/destinations/"))
    #expect(!folder.folderName.hasPrefix("."))
    #expect(folder.path.utf8.split(separator: UInt8(ascii: "/")).count == 3)
  }

  @Test(arguments: [
    "UPDATE sink_progress SET applied = 5", "UPDATE sink_progress SET dead = -1",
    "UPDATE letter_totals SET bytes = -1", "UPDATE letter_totals SET queued = -1",
  ])
  func `a file with a count that cannot be is moved aside, and its letters are taken over`(
    _ change: String
  ) throws {
    let folder = try TemporaryFolder()
    do {
      var store = try store(folder)
      _ = try store.commit(settlement(0..<3), at: Self.now)
      try store.withDatabase { database throws(DatabaseError) in try database.execute(change) }
    }
    var store = try store(folder)
    #expect(try store.progress() == nil)
    #expect(try store.letterTotals().count == 3)
    #expect(store.takeNotices().count == 1)
  }
}
