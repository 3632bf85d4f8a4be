import BusBroker
import BusClient
import BusProtocol
import EventCodec
import EventModel
import Primitives
import TestSupport
import Testing

/// Who may publish `$forget`, and who gets it.
@Suite(.timeLimit(.minutes(5)))
struct ForgetTests {
  private static let request = ForgetRequest(userId: "person")!
    .payload(messageId: UUIDv7(high: 1, low: 2), at: Timestamp(nanoseconds: 1))

  private func publish(
    _ payload: [UInt8], to address: String, mayForget: Bool, addressees: [String] = []
  ) throws -> (FlushResult, [RefusedEvent]) {
    let refused = Collector<RefusedEvent>()
    var configuration = ProducerConfiguration(address: address, client: "test")
    configuration.mayForget = mayForget
    configuration.addressees = addressees
    configuration.onRefused = { refused.add($0) }
    let producer = try Producer(configuration)
    try producer.publish(payload: payload, name: EventName.forget)
    return (producer.closeBlocking(), refused.all)
  }

  @Test func `it is refused from whoever did not ask for it, also when it is known`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let address = broker.addresses.bus
    for round in 0..<2 {
      let (result, refused) = try publish(Self.request, to: address, mayForget: false)
      #expect((result.acknowledged, result.refused) == (0, 1))
      #expect(refused.map(\.code) == [RefusalCode.forbidden.rawValue])
      if round == 0 {
        #expect(try publish(Self.request, to: address, mayForget: true).0.acknowledged == 1)
      }
    }
    broker.stop()
    broker.join()
  }

  @Test func `it goes to everybody or nobody, and names somebody`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let address = broker.addresses.bus
    let (addressed, forbidden) = try publish(
      Self.request, to: address, mayForget: true, addressees: ["archiver"])
    #expect(addressed.refused == 1)
    #expect(forbidden.map(\.code) == [RefusalCode.forbidden.rawValue])
    let (nobody, bad) = try publish(payload("$forget", 1), to: address, mayForget: true)
    #expect(nobody.refused == 1)
    #expect(bad.map(\.code) == [RefusalCode.badPayload.rawValue])
    broker.stop()
    broker.join()
  }

  @Test func `what was before it has a segment of its own, which ages from then on`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let address = broker.addresses.bus
    let producer = try Producer(.init(address: address, client: "test"))
    try producer.publish("A", 0)
    #expect(producer.closeBlocking().isComplete)
    #expect(try publish(Self.request, to: address, mayForget: true).0.acknowledged == 1)
    var bus = try BusAdministration(address: address)
    #expect(try waitUntil { try bus.status().number("segments") == 2 })
    #expect(try bus.status().number("retentionSeconds") == 7 * 86_400)
    broker.stop()
    broker.join()
  }

  @Test func `a sink of other names gets it, and knows it after a broker's restart`() throws {
    let folder = try TemporaryFolder()
    var broker = try startBroker(folder)
    let address = broker.addresses.bus
    var configuration = SubscriberConfiguration(address: address, client: "test", name: "sink")
    configuration.filters = [NameFilter(.exact, "A"), NameFilter(.exact, EventName.forget)]
    let subscriber = try Subscriber(configuration)
    let producer = try Producer(.init(address: address, client: "test"))
    try producer.publish("B", 0)
    #expect(producer.closeBlocking().isComplete)
    #expect(try publish(Self.request, to: address, mayForget: true).0.acknowledged == 1)
    broker.stop()
    broker.join()
    broker = try startBroker(folder, bus: address)
    #expect(try publish(Self.request, to: address, mayForget: true).0.acknowledged == 1)
    let events = try subscriber.take(2)
    #expect(events.map(\.name) == ["$forget", "$forget"])
    #expect(events.map(\.offset) == [1, 2])
    broker.stop()
    broker.join()
  }
}
