import EventJournal
import Primitives
import Testing

@testable import BusBroker

@Suite struct BrokerSnapshotTests {
  static func tables() -> (names: NameTable, producers: ProducerTable) {
    (NameTable(limit: 10), ProducerTable(limit: 10, idle: .seconds(1)))
  }

  static func sample() -> [UInt8] {
    var (names, producers) = tables()
    _ = names.take(3, of: names.intern("Game Started"), at: 10)
    _ = names.take(1, of: names.intern("$forget"), at: -1)
    for number in UInt64(1)...2 {
      let id = JournalProducer(high: number, low: .max)
      producers.took(id, sequence: 5 * number, events: 2, at: 30)
    }
    return BrokerSnapshot.encode(names: names, producers: producers)
  }

  @Test func `tables are restored as they were`() throws {
    var (names, producers) = Self.tables()
    try BrokerSnapshot.restore(Self.sample(), names: &names, producers: &producers)
    #expect(names.count == 2)
    #expect(names.find("$forget") == 1)
    #expect(names.lastSequence == [3, 1])
    #expect(names.lastTime == [10, -1])
    #expect(
      producers.entries == [
        JournalProducer(high: 1, low: .max): .init(lastSequence: 5, lastTime: 30, events: 2),
        JournalProducer(high: 2, low: .max): .init(lastSequence: 10, lastTime: 30, events: 2),
      ])
  }

  @Test func `the bytes are those of the layout`() {
    var (names, producers) = Self.tables()
    _ = names.take(2, of: names.intern("a"), at: 258)
    producers.took(JournalProducer(high: 1, low: 2), sequence: 3, events: 5, at: 4)
    func wide(_ low: UInt8) -> [UInt8] { [0, 0, 0, 0, 0, 0, 0, low] }
    #expect(
      BrokerSnapshot.encode(names: names, producers: producers)
        == [1, 0, 0, 0, 1, 1, 0x61] + wide(2) + [0, 0, 0, 0, 0, 0, 1, 2]
        + [0, 0, 0, 1] + wide(1) + wide(2) + wide(3) + wide(4) + wide(5))
  }

  @Test func `no bytes are no snapshot`() throws {
    var (names, producers) = Self.tables()
    try BrokerSnapshot.restore([], names: &names, producers: &producers)
    #expect(names.count == 0)
    #expect(producers.entries.isEmpty)
  }

  @Test(arguments: [0, 2, 255] as [UInt8])
  func `another version stops the start`(_ version: UInt8) {
    var bytes = Self.sample()
    bytes[0] = version
    #expect(throws: BrokerSnapshotError.version(version)) {
      var (names, producers) = Self.tables()
      try BrokerSnapshot.restore(bytes, names: &names, producers: &producers)
    }
  }

  @Test func `a snapshot cut at any byte is refused`() {
    let bytes = Self.sample()
    for length in 1..<bytes.count {
      #expect(throws: BrokerSnapshotError.self, "cut to \(length) bytes") {
        var (names, producers) = Self.tables()
        try BrokerSnapshot.restore(
          Array(bytes[..<length]), names: &names, producers: &producers)
      }
    }
  }

  @Test func `names above a limit lowered since are kept and new ones not admitted`() throws {
    var names = NameTable(limit: 1)
    var producers = ProducerTable(limit: 1, idle: .seconds(1))
    try BrokerSnapshot.restore(Self.sample(), names: &names, producers: &producers)
    #expect(names.count == 2)
    #expect(names.isFull)
    #expect(names.find("$forget") == 1)
    #expect(producers.entries.count == 2)
  }
}
