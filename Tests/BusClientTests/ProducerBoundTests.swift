import BusBroker
import BusProtocol
import Primitives
import TestSupport
import Testing

@testable import BusClient

/// What a producer does with more than it may hold, and with batches that the broker finds too large.
@Suite(.timeLimit(.minutes(5)))
struct ProducerBoundTests {
  private func configuration(
    _ folder: TemporaryFolder, _ overflow: ProducerOverflow
  ) -> ProducerConfiguration {
    var configuration = ProducerConfiguration(
      address: "ipc://" + folder.file("bus"), client: "test")
    configuration.overflow = overflow
    configuration.maximumEvents = 10
    configuration.batchEvents = 4
    return configuration
  }

  @Test func `at its bound it throws, takes nothing, and takes again when there is room`() throws {
    let folder = try TemporaryFolder()
    let settings = configuration(folder, .throw)
    let producer = try Producer(settings)
    for number in 0..<10 { try producer.publish("A", number) }
    for _ in 0..<3 {
      let error = #expect(throws: BusClientError.self) { try producer.publish("A", 99) }
      guard case .full(events: 10, _)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
    #expect(producer.counters.published == 10)
    let broker = try startBroker(folder, bus: settings.address)
    #expect(producer.flushBlocking(deadline: .seconds(20)).acknowledged == 10)
    try producer.publish("A", 10)
    #expect(producer.closeBlocking(deadline: .seconds(20)).acknowledged == 11)
    let subscriber = try Subscriber(.init(address: settings.address, client: "test"))
    #expect(try subscriber.take(11).map(\.payload) == (0...10).map { payload("A", $0) })
    broker.stop()
    broker.join()
  }

  @Test func `at its bound it blocks the caller until there is room`() throws {
    let folder = try TemporaryFolder()
    let settings = configuration(folder, .block)
    let producer = try Producer(settings)
    let published = Collector<Int>()
    let publisher = try OwnedThread(name: "publisher") {
      do {
        for number in 0..<100 {
          try producer.publish("A", number)
          published.add(number)
        }
      } catch {
        Issue.record("\(error)")
      }
    }
    #expect(waitUntil { published.all.count == 10 })
    // It is in the eleventh call, whose event is not taken yet.
    #expect(producer.counters.published == 10)
    let broker = try startBroker(folder, bus: settings.address)
    publisher.join()
    #expect(published.all.count == 100)
    #expect(producer.closeBlocking(deadline: .seconds(20)).acknowledged == 100)
    broker.stop()
    broker.join()
  }

  @Test func `a batch made before the broker's lower limits were known is cut to them`() throws {
    let folder = try TemporaryFolder()
    var settings = configuration(folder, .block)
    settings.maximumEvents = 1000
    settings.batchEvents = 100
    let producer = try Producer(settings)
    for number in 0..<200 { try producer.publish("A", number) }
    // Two batches of 100 are closed by now, and nobody has said that 7 is the limit.
    let broker = try startBroker(folder, bus: settings.address) { configuration in
      configuration.limits.batchEvents = 7
      configuration.limits.eventBytes = 1024
      configuration.limits.batchBytes = 1024
    }
    let result = producer.flushBlocking(deadline: .seconds(20))
    #expect((result.acknowledged, result.refused) == (200, 0))
    let subscriber = try Subscriber(.init(address: settings.address, client: "test"))
    var events: [ReceivedEvent] = []
    var longest = 0
    while events.count < 200, let batch = try subscriber.nextBatch(deadline: .seconds(10)) {
      events += batch.events
      longest = max(longest, batch.parts.map(\.batch.eventCount).max() ?? 0)
    }
    #expect(events.map(\.payload) == (0..<200).map { payload("A", $0) })
    #expect(longest > 1 && longest <= 7)
    broker.stop()
    broker.join()
  }
}
