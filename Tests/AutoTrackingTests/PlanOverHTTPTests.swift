import Analytics
import AnalyticsTestSupport
import AutoTracking
import BusBroker
import BusClient
import Collector
import EventModel
import TestSupport
import Testing
import TrackingPlan

/// Tests the whole way of a plan (S3.6): the bus, the collector, HTTP, an app.
@Suite(.timeLimit(.minutes(2)))
struct PlanOverHTTPTests {
  private static func broker(_ folder: TemporaryFolder) throws -> Broker {
    var configuration = BrokerConfiguration(directory: folder.file("journal"))
    configuration.busAddress = "tcp://127.0.0.1:*"
    configuration.liveAddress = "tcp://127.0.0.1:*"
    configuration.publishAddress = "tcp://127.0.0.1:*"
    configuration.pushAddress = "tcp://127.0.0.1:*"
    return try Broker(configuration)
  }

  @Test func `S3.6 a plan goes from the bus through the collector into a running app`() async throws
  {
    let folder = try TemporaryFolder()
    let broker = try Self.broker(folder)
    var configuration = CollectorConfiguration(bus: broker.addresses.bus)
    configuration.port = 0
    let collector = try Collector(configuration)
    let recorder = AnalyticsRecorder()
    let tracker = AutoTracker(sendingTo: recorder)
    let follower = try PlanFollower(
      "http://127.0.0.1:\(collector.port)/v1/plan?wait=20", for: tracker)
    #expect(await !follower.refresh())
    #expect(await follower.failure == nil)
    let producer = try Producer(
      ProducerConfiguration(address: broker.addresses.bus, client: "test"))
    for version in 1...2 {
      let plan = try PlanText.plan(
        version: version, PlanText.entry("Version \(version)", "#buttonClick:#..."))
      for event in plan.events { try producer.publish(event) }
      // The second is waited for by the collector; the first may have to be asked for again.
      while tracker.plan?.document.version != version { _ = await follower.refresh() }
      await record(tracker)
    }
    #expect(recorder.names == ["Version 1", "Version 2"])
    #expect(producer.closeBlocking(deadline: .seconds(10)).isComplete)
    _ = collector.stop()
    broker.stop()
    broker.join()
  }

  @MainActor private func record(_ tracker: AutoTracker) {
    tracker.record(.buttonClick, from: FakeApp().button)
  }
}
