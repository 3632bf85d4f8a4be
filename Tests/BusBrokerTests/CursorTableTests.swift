import BusProtocol
import Primitives
import Testing

@testable import BusBroker

@Suite struct CursorTableTests {
  static func record(_ name: String, at offset: UInt64, lastSeen: Int64 = 0) -> CursorRecord {
    CursorRecord(
      name: Array(name.utf8), cursor: Position(epoch: 1, offset: offset), filters: [], created: 0,
      lastSeen: lastSeen)
  }

  /// The changes in a fixed order: name and offset, or -1 for a deletion.
  static func summary(_ changes: [CursorChange]) -> [String] {
    changes.map { change in
      let name = String(decoding: change.name, as: UTF8.self)
      return if case .put(let record) = change { "\(name) \(record.cursor.offset)" } else {
        "\(name) gone"
      }
    }.sorted()
  }

  @Test func `changes to one name collapse into the newest`() {
    var table = CursorTable(limit: 10)
    for offset in UInt64(1)...5 { table.put(Self.record("a", at: offset)) }
    table.put(Self.record("b", at: 1))
    let changes = table.takeChanges()
    #expect(Self.summary(changes) == ["a 5", "b 1"])
  }

  @Test func `one write is under way at a time`() {
    var table = CursorTable(limit: 10)
    table.put(Self.record("a", at: 1))
    let first = table.takeChanges()
    table.put(Self.record("a", at: 2))
    table.put(Self.record("a", at: 3))
    let rest = table.takeChanges()
    #expect(rest.isEmpty)
    table.wrote(first, succeeded: true)
    let changes = table.takeChanges()
    #expect(Self.summary(changes) == ["a 3"])
  }

  @Test func `after a write nothing is left to write`() {
    var table = CursorTable(limit: 10)
    table.put(Self.record("a", at: 1))
    table.wrote(table.takeChanges(), succeeded: true)
    let rest = table.takeChanges()
    #expect(rest.isEmpty)
  }

  @Test func `what failed is written again unless something newer replaced it`() {
    var table = CursorTable(limit: 10)
    table.put(Self.record("a", at: 1))
    table.put(Self.record("b", at: 1))
    let failed = table.takeChanges()
    table.put(Self.record("b", at: 2))
    table.wrote(failed, succeeded: false)
    let changes = table.takeChanges(retrying: true)
    #expect(Self.summary(changes) == ["a 1", "b 2"])
  }

  @Test func `after a failure nothing is written until it is tried again, and then as always`() {
    var table = CursorTable(limit: 10)
    table.put(Self.record("a", at: 1))
    table.wrote(table.takeChanges(), succeeded: false)
    let held = table.takeChanges()
    #expect(held.isEmpty)
    table.wrote(table.takeChanges(retrying: true), succeeded: true)
    table.put(Self.record("a", at: 2))
    let changes = table.takeChanges()
    #expect(Self.summary(changes) == ["a 2"])
  }

  @Test func `a deletion wins over the put before it and is written`() {
    var table = CursorTable(limit: 1, records: [Self.record("a", at: 1)])
    #expect(table.isFull)
    table.put(Self.record("a", at: 2))
    let name = Array("a".utf8)
    let deleted = [table.delete(name), table.delete(name)]
    #expect(deleted == [true, false])
    #expect(table[name] == nil)
    #expect(!table.isFull)
    let changes = table.takeChanges()
    #expect(Self.summary(changes) == ["a gone"])
  }

  @Test func `a sign of life and a delivery ask for no write`() {
    var table = CursorTable(limit: 1, records: [Self.record("a", at: 1)])
    let name = Array("a".utf8)
    table.seen(name, at: 9)
    table.addDelivered(name, events: 4)
    #expect(table[name]?.lastSeen == 9)
    #expect(table[name]?.delivered == 4)
    let rest = table.takeChanges()
    #expect(rest.isEmpty)
  }

  @Test(arguments: [(99, 5), (100, 7), (149, 7), (150, nil)] as [(Int64, UInt64?)])
  func `an idle subscriber holds nothing back`(_ now: Int64, _ needed: UInt64?) {
    let table = CursorTable(
      limit: 10,
      records: [Self.record("a", at: 5), Self.record("b", at: 7, lastSeen: 50)])
    #expect(table.oldestNeeded(at: now, idle: .nanoseconds(100)) == needed)
  }
}
