import BusBroker
import BusProtocol
import Primitives
import Synchronization
import TestSupport
import Testing

@testable import BusClient

/// Events that are published together, and what is told of them.
@Suite(.timeLimit(.minutes(5)))
struct ReceiptTests {
  /// Where receipts arrive.
  private final class Receipts: Sendable {
    private let all = Mutex<[Int: PublishReceipt]>([:])
    var count: Int { all.withLock { $0.count } }
    subscript(key: Int) -> PublishReceipt? { all.withLock { $0[key] } }
    func add(_ key: Int, _ receipt: PublishReceipt) {
      all.withLock { all in
        #expect(all[key] == nil, "a second receipt")
        all[key] = receipt
      }
    }
  }

  private func events(_ numbers: Range<Int>, bad: Set<Int> = []) -> EncodedEvents {
    var events = EncodedEvents()
    for number in numbers {
      events.payloads += bad.contains(number) ? [0xC0] : payload("A", number)
      events.add(name: Array("A".utf8))
    }
    return events
  }

  @Test func `each set is told when all of it is stored`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let producer = try Producer(.init(address: broker.addresses.bus, client: "test"))
    let receipts = Receipts()
    for set in 0..<200 {
      try producer.publish(events(set * 37..<(set + 1) * 37)) { receipts.add(set, $0) }
      if set % 3 == 0 { try producer.publish("B", set) }
    }
    #expect(waitUntil { receipts.count == 200 })
    for set in 0..<200 {
      #expect(receipts[set] == PublishReceipt(acknowledged: 37, refused: [], lost: 0))
    }
    #expect(producer.closeBlocking().acknowledged == 200 * 37 + 67)
    broker.stop()
    broker.join()
  }

  @Test func `refused events are named by their place and the others are stored`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let producer = try Producer(.init(address: broker.addresses.bus, client: "test"))
    let receipts = Receipts()
    try producer.publish(events(0..<10)) { receipts.add(0, $0) }
    try producer.publish(events(0..<10, bad: [0, 4, 9])) { receipts.add(1, $0) }
    var tooLarge = events(0..<2)
    tooLarge.payloads += [UInt8](repeating: 0, count: 300 << 10)
    tooLarge.add(name: Array("A".utf8))
    try producer.publish(tooLarge) { receipts.add(2, $0) }
    #expect(waitUntil { receipts.count == 3 })
    #expect(receipts[0]?.acknowledged == 10)
    #expect(receipts[1]?.acknowledged == 7)
    #expect(receipts[1]?.refused.map(\.index).sorted() == [0, 4, 9])
    #expect(receipts[1]?.refused.allSatisfy { $0.code == "BAD_PAYLOAD" } == true)
    #expect(receipts[2]?.acknowledged == 2)
    #expect(receipts[2]?.refused.map(\.code) == ["TOO_LARGE"])
    _ = producer.closeBlocking()
    broker.stop()
    broker.join()
  }

  @Test func `what was not stored when the producer ends is told as lost`() throws {
    let producer = try Producer(.init(address: "tcp://127.0.0.1:9", client: "test"))
    let receipts = Receipts()
    for set in 0..<3 { try producer.publish(events(0..<400)) { receipts.add(set, $0) } }
    #expect(producer.closeBlocking(deadline: .milliseconds(10)).unacknowledged == 1200)
    #expect(waitUntil { receipts.count == 3 })
    for set in 0..<3 { #expect(receipts[set]?.lost == 400) }
  }

  @Test func `no events at all are told of at once`() throws {
    let producer = try Producer(.init(address: "tcp://127.0.0.1:9", client: "test"))
    let receipts = Receipts()
    try producer.publish(EncodedEvents()) { receipts.add(0, $0) }
    #expect(receipts[0] == PublishReceipt())
    _ = producer.closeBlocking(deadline: .zero)
  }

  @Test func `a batch that is cut keeps the tickets of its events`() {
    let ticket = PublishTicket(events: 6) { _ in }
    var builder = BatchBuilder()
    var runs = TicketRuns()
    for number in 0..<8 {
      // Two events of somebody else stand at both ends.
      let isOwn = 1..<7 ~= number
      runs.append(isOwn ? ticket : nil, index: number - 1, before: number)
      builder.payloads += payload("A", number)
      builder.append(name: Array("A".utf8))
    }
    var batch = OutgoingBatch(taking: &builder, cost: 1, largestEvent: 1)
    batch.tickets = runs
    let kept = batch.keeping { $0 != 3 }
    #expect(kept?.tickets.runs.map(\.count) == [1, 2, 3, 1])
    #expect(kept?.tickets.ticket(at: 3)?.index == 3)
    #expect(kept?.tickets.ticket(at: 0) == nil)
    #expect(kept?.tickets.ticket(at: 6) == nil)
  }
}
