import BusProtocol
import EventJournal
import Primitives
import Testing

@testable import BusBroker

extension NameTable {
  mutating func intern(_ name: String) -> Int {
    let bytes = Array(name.utf8)
    return intern(unsafe bytes.span.bytes)
  }

  func find(_ name: String) -> Int? {
    let bytes = Array(name.utf8)
    return find(unsafe bytes.span.bytes)
  }
}

@Suite struct NameTableTests {
  @Test func `names are numbered as they come and found again`() {
    var names = NameTable(limit: 3)
    let numbers = ["a", "b", "a", "c"].map { names.intern($0) }
    #expect(numbers == [0, 1, 0, 2])
    #expect(names.find("b") == 1)
    #expect(names.find("d") == nil)
    #expect(names[1] == Array("b".utf8))
    #expect(names.isFull)
  }

  @Test func `sequences of a name are dense and leave other names alone`() {
    var names = NameTable(limit: 2)
    let (a, b) = (names.intern("a"), names.intern("b"))
    let first = [
      names.take(3, of: a, at: 10), names.take(1, of: b, at: 11), names.take(2, of: a, at: 12),
    ]
    #expect(first == [1, 1, 4])
    #expect(names.lastSequence == [5, 1])
    #expect(names.lastTime == [12, 11])
  }

  @Test func `a full table still knows its names`() {
    var names = NameTable(limit: 1)
    let numbers = [names.intern("a"), names.intern("a")]
    #expect(numbers == [0, 0])
  }

  @Test func `a new name in a full table is our own fault`() async {
    await #expect(processExitsWith: .failure) {
      var names = NameTable(limit: 1)
      _ = names.intern("a")
      _ = names.intern("b")
    }
  }
}

@Suite struct ProducerTableTests {
  static func id(_ number: UInt64) -> JournalProducer { JournalProducer(high: 0, low: number) }

  @Test func `what was taken is remembered and added up`() {
    var table = ProducerTable(limit: 2, idle: .seconds(1))
    let isNew = table.admit(Self.id(1), at: 5)
    table.took(Self.id(1), sequence: 7, events: 10, at: 6)
    table.took(Self.id(1), sequence: 9, events: 1, at: 8)
    #expect(table[Self.id(1)] == .init(lastSequence: 9, lastTime: 8, events: 11))
    let isKnown = table.admit(Self.id(1), at: 100)
    #expect(isNew && isKnown)
    #expect(table[Self.id(1)]?.lastTime == 8)
  }

  @Test func `a full table refuses a new producer while all are active`() {
    var table = ProducerTable(limit: 2, idle: .nanoseconds(100))
    let admitted = [(1, 0), (2, 0), (3, 99), (1, 99)].map { table.admit(Self.id($0), at: $1) }
    #expect(admitted == [true, true, false, true])
    #expect(table.entries.count == 2)
  }

  @Test func `only idle producers make room`() {
    var table = ProducerTable(limit: 2, idle: .nanoseconds(100))
    table.took(Self.id(1), sequence: 1, events: 1, at: 0)
    table.took(Self.id(2), sequence: 1, events: 1, at: 50)
    let isAdmitted = table.admit(Self.id(3), at: 100)
    #expect(isAdmitted)
    #expect(table[Self.id(1)] == nil)
    #expect(table[Self.id(2)] != nil)
  }
}

@Suite struct RefusalCountsTests {
  @Test func `refusals are counted by port and code with the newest sample`() {
    var counts = RefusalCounts()
    counts.count(.badName, on: .bus, events: 3, sample: "first")
    counts.count(.badName, on: .bus, sample: String(repeating: "x", count: 300))
    counts.count(.badName, on: .push, sample: "other port")
    counts.count(.badFrame, on: .bus, sample: "other code")
    let entry = counts.entries[.init(port: .bus, code: .badName)]
    #expect(entry?.count == 4)
    #expect(entry?.sample == String(repeating: "x", count: 200))
    #expect(counts.entries.count == 3)
    #expect(counts.events == 6)
  }

  @Test func `a sample is cut by bytes, whatever a character has of them`() {
    var counts = RefusalCounts()
    counts.count(.badFrame, on: .bus, sample: "e" + String(repeating: "\u{301}", count: 1000))
    #expect(counts.entries[.init(port: .bus, code: .badFrame)]?.sample.utf8.count == 202)
  }

  @Test func `what holds no events counts once, and no event`() {
    var counts = RefusalCounts()
    counts.count(.badFrame, on: .bus, events: 0, sample: "noise")
    #expect(counts.entries[.init(port: .bus, code: .badFrame)]?.count == 1)
    #expect(counts.events == 0)
  }

  @Test func `counts of another thread are added`() {
    var there = RefusalCounts()
    there.count(.badFrame, on: .live, events: 2, sample: "newer")
    var here = RefusalCounts()
    here.count(.badFrame, on: .live, sample: "older")
    here.add(there.entries)
    let entry = here.entries[.init(port: .live, code: .badFrame)]
    #expect(entry?.count == 3)
    #expect(entry?.sample == "newer")
    #expect(here.events == 3)
  }
}
