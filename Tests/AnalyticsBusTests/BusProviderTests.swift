import Analytics
import AnalyticsBus
import BusBroker
import BusClient
import BusProtocol
import EventCodec
import EventModel
import Foundation
import Primitives
import TestSupport
import Testing

/// The bus as a provider of the service.
@Suite(.timeLimit(.minutes(5)))
struct BusProviderTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func startBroker() throws -> Broker {
    var configuration = BrokerConfiguration(directory: folder.file("journal"))
    configuration.busAddress = "tcp://127.0.0.1:*"
    configuration.liveAddress = "tcp://127.0.0.1:*"
    configuration.publishAddress = "tcp://127.0.0.1:*"
    configuration.pushAddress = "tcp://127.0.0.1:*"
    return try Broker(configuration)
  }

  @Test func `events of the service are on the bus in order, whole, and acknowledged by flush`()
    async throws
  {
    let broker = try startBroker()
    let bus = try BusProvider(.init(address: broker.addresses.bus, client: "app"))
    let service = try AnalyticsService(providers: [bus])
    service.setCommonProperties(["build": 7])
    service.identify("u-1")
    for number in 0..<500 {
      service.track(AnalyticsEvent(name: "E", properties: ["n": PropertyValue(number)]))
    }
    #expect(await service.flush().isComplete)
    #expect(bus.counters.taken == 501 && bus.counters.dropped == 0)

    let reader = try Subscriber(.init(address: broker.addresses.bus, client: "reader"))
    var envelopes: [EventEnvelope] = []
    while envelopes.count < 501 {
      let batch = try #require(try reader.nextBatch(deadline: .seconds(10)))
      batch.forEach { _, _, payload in
        if let envelope = try? EventEnvelope(payload: payload) { envelopes.append(envelope) }
      }
    }
    #expect(envelopes[0].kind == .identify && envelopes[0].userId == "u-1")
    #expect(
      envelopes.dropFirst().map(\.properties)
        == (0..<500).map { ["n": PropertyValue($0), "build": 7] })
    #expect(Set(envelopes.map(\.anonymousId)).count == 1)
    _ = await bus.close()
    broker.stop()
    broker.join()
  }

  @Test func `without a broker an app goes on, and flush says what waits`() async throws {
    let bus = try BusProvider(
      .init(address: "tcp://127.0.0.1:9", client: "app"), flushDeadline: .milliseconds(50))
    let service = try AnalyticsService(providers: [bus])
    service.track(EventType.GameReset())
    let result = await service.flush()
    #expect(result.waiting == 1 && result.failure?.hasPrefix("bus: ") == true)
    _ = await bus.close()
    service.track(EventType.GameReset())
    await service.flush()
    #expect(bus.counters.dropped == 1 && bus.counters.lastFailure == .closed)
  }

  @Test(arguments: [true, false])
  func `what is erased is in no memory and no spool, and the provider goes on`(_ spills: Bool)
    async throws
  {
    let spool = folder.file("spool.sqlite")
    var configuration = ProducerConfiguration(address: "tcp://127.0.0.1:9", client: "app")
    configuration.maximumEvents = 20
    configuration.batchEvents = 10
    if spills { configuration.overflow = .spill(path: spool) }
    let bus = try BusProvider(configuration, flushDeadline: .milliseconds(50))
    let service = try AnalyticsService(providers: [bus])
    for _ in 0..<200 { service.track(AnalyticsEvent("Secret", properties: ["note": "private"])) }
    await service.flush()
    let counters = bus.counters
    #expect(counters.taken + counters.dropped == 200 && counters.taken >= 20)
    if spills { #expect(counters.taken == 200 && bus.producer.counters.inSpool > 0) }
    service.optOut()
    #expect(await service.isOptedOut)
    #expect(bus.counters.erased == counters.taken)
    #expect(bus.producer.counters.published == 0)
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let data = try Data(contentsOf: URL(fileURLWithPath: folder.file(name)))
      #expect(data.range(of: Data("private".utf8)) == nil, "\(name)")
    }
    service.optIn()
    service.track(EventType.GameReset())
    #expect(await service.flush().waiting == 1)
    _ = await bus.close()
  }

  @Test func `what the broker has stays there, and later events follow`() async throws {
    let broker = try startBroker()
    let bus = try BusProvider(.init(address: broker.addresses.bus, client: "app"))
    let service = try AnalyticsService(providers: [bus])
    service.track(EventType.GameReset())
    #expect(await service.flush().isComplete)
    service.reset(erasingQueue: true)
    service.track(EventType.GameReset())
    #expect(await service.flush().isComplete)
    #expect(bus.counters.taken == 2 && bus.counters.erased == 0)
    #expect(bus.producer.counters.acknowledged == 1, "the second producer's")
    _ = await bus.close()
    broker.stop()
    broker.join()
  }
}
