import BusBroker
import BusProtocol
import Primitives
import TestSupport
import Testing

@testable import BusClient

@Suite(.timeLimit(.minutes(5)))
struct LiveTests {
  private func feed(
    _ core: inout LiveCore, _ topic: String, epoch: UInt32 = 1, offset: UInt64, sequence: UInt64
  ) -> [LiveItem] {
    let name = Array(topic.utf8) + [0]
    var meta: [UInt8] = []
    LiveMeta(epoch: epoch, offset: offset, sequence: sequence, time: 0).encode(into: &meta)
    return unsafe core.receive(name.span.bytes, [UInt8]().span.bytes, meta.span.bytes)
  }

  @Test func `holes and a lost tail are told, a new epoch is none`() {
    var core = LiveCore()
    #expect(feed(&core, "$HEAD/A", offset: 10, sequence: 4) == [.ready(name: "A")])
    #expect(feed(&core, "A", offset: 10, sequence: 5).count == 1)
    #expect(
      feed(&core, "A", offset: 20, sequence: 8).first
        == .lost(name: "A", from: 6, to: 8, after: 11, before: 20))
    #expect(
      feed(&core, "$HEAD/A", offset: 30, sequence: 9)
        == [.lost(name: "A", from: 9, to: 10, after: 21, before: 30)])
    #expect(feed(&core, "$HEAD/A", offset: 30, sequence: 9) == [])
    #expect(feed(&core, "A", epoch: 2, offset: 3, sequence: 1).count == 1)
  }

  @Test func `a live subscriber that is ready misses nothing that follows`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    var live = try LiveSubscriber(busAddress: broker.addresses.bus, names: ["A"])
    #expect(try live.next(deadline: .seconds(10)) == .ready(name: "A"))
    let producer = try Producer(.init(address: broker.addresses.bus, client: "test"))
    try producer.publish("AB", 0)
    for number in 0..<10 { try producer.publish("A", number) }
    var sequences: [UInt64] = []
    while sequences.count < 10, let item = try live.next(deadline: .seconds(10)) {
      if case .event(_, let sequence) = item { sequences.append(sequence) }
    }
    #expect(sequences == Array(1...10))

    var tool = try BusAdministration(address: broker.addresses.bus)
    #expect(try tool.status().fields.isEmpty == false)
    var offsets: [UInt64] = []
    try tool.fetch(from: .earliest, filters: [NameFilter(.exact, "A")]) { batch in
      offsets += batch.events.map(\.offset)
      return true
    }
    #expect(offsets == Array(1...10))
    #expect(throws: BusClientError.self) { try tool.show("nobody") }
    broker.stop()
    broker.join()
  }

  @Test func `a subscription to everything has one ready sign and then every event`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    var live = try LiveSubscriber(busAddress: broker.addresses.bus, names: [])
    #expect(
      try live.next(deadline: .seconds(10)) == .ready(name: LiveSubscriber.everything))
    let producer = try Producer(.init(address: broker.addresses.bus, client: "test"))
    for number in 0..<10 { try producer.publish("N\(number)", number) }
    var names: [String] = []
    while names.count < 10, let item = try live.next(deadline: .seconds(10)) {
      if case .event(let event, _) = item { names.append(event.name) }
    }
    #expect(names == (0..<10).map { "N\($0)" })
    broker.stop()
    broker.join()
  }
}
