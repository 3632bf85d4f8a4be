import BusBroker
import BusClient
import BusProtocol
import EventModel
import TestSupport
import Testing
import TrackingPlan

@testable import Collector

/// Tests that a plan lasts (S3.6): over the journal's retention, and over a journal that is gone.
@Suite(.timeLimit(.minutes(2)))
struct PlanKeeperTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func broker(_ name: String) throws -> Broker {
    var configuration = BrokerConfiguration(directory: folder.file(name))
    configuration.busAddress = "tcp://127.0.0.1:*"
    configuration.liveAddress = "tcp://127.0.0.1:*"
    configuration.publishAddress = "tcp://127.0.0.1:*"
    configuration.pushAddress = "tcp://127.0.0.1:*"
    return try Broker(configuration)
  }

  private func collector(_ broker: Broker) throws -> Collector {
    var configuration = CollectorConfiguration(bus: broker.addresses.bus)
    configuration.port = 0
    configuration.planDirectory = folder.file("plan")
    configuration.planInterval = .milliseconds(50)
    return try Collector(configuration)
  }

  private static func plan() throws -> PublishedPlan {
    var plan = PlanDocument(version: 4)
    plan.collection.entries = [.init("E", patterns: [try EventPathPattern(parsing: "#a:#...")])]
    return try PublishedPlan(plan)
  }

  private func publish(_ events: [AnalyticsEvent], _ broker: Broker) throws {
    let producer = try Producer(
      ProducerConfiguration(address: broker.addresses.bus, client: "test"))
    for event in events { try producer.publish(event) }
    #expect(producer.closeBlocking(deadline: .seconds(20)).isComplete)
  }

  /// Where the plan's events stand.
  private func offsets(_ broker: Broker) throws -> [UInt64] {
    var offsets: [UInt64] = []
    var bus = try BusAdministration(address: broker.addresses.bus)
    _ = try bus.fetch(from: .earliest, filters: [NameFilter(.exact, "$plan")]) { batch in
      batch.forEach { place, _, _ in offsets.append(place.offset) }
      return true
    }
    return offsets
  }

  @Test
  func `S3.6 a plan is published anew before it would leave the journal, and into an empty one`()
    throws
  {
    let first = try broker("first")
    let collector = try collector(first)
    try publish(try Self.plan().events, first)
    #expect(waitUntil { collector.metrics.plan.version == 4 })
    #expect(try offsets(first) == [0])
    try publish((0..<1500).map { _ in AnalyticsEvent("Filler") }, first)
    #expect(try waitUntil { try offsets(first).count >= 2 })
    // A thousand events later; a look may fall between two batches of them.
    let copies = try offsets(first)
    #expect(copies[0] == 0 && (1001...1501).contains(copies[1]), "\(copies)")
    _ = collector.stop()
    first.stop()
    first.join()
    // Another journal, as after a disk was lost: what the file has goes there.
    let second = try broker("second")
    let next = try self.collector(second)
    #expect(next.metrics.plan.version == 4)
    #expect(try waitUntil { try offsets(second) == [0] })
    _ = next.stop()
    second.stop()
    second.join()
  }
}
