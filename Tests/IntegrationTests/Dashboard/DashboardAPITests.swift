import DestinationTestSupport
import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// What the page asks for, asked without a page.
  @Suite struct DashboardAPITests {
    @Test func `the stream gives a picture at once and one a second, of the busiest names`() throws
    {
      let dashboard = try TestDashboard(reports: nil)
      try dashboard.publish((0..<50).map { (name: "Name \($0)", user: "u", properties: "{}") })
      let curl = try ChildProcess("curl", ["-sNi", dashboard.aggregator.url + "/api/live"])
      // The first may have been made before the names were counted.
      #expect(waitUntil { curl.output.text.split(separator: "\"nameCount\":50").count >= 4 })
      let lines = curl.output.text.split(whereSeparator: \.isNewline)
      #expect(lines.contains { $0.lowercased().hasPrefix("content-type: text/event-stream") })
      let data = try #require(lines.last { $0.contains("\"nameCount\":50") && $0.hasSuffix("}") })
      let picture = try JSONValue(text: String(data.dropFirst("data: ".count)))
      #expect(picture["names"]?.list.count == 30 && picture["otherNames"]?.int == 20)
      #expect(picture["events"]?.int == 50 && picture["cursor"]?.int == 50)
      #expect(picture["connected"] == .bool(true))
      let found = try JSONValue(text: dashboard.aggregator.get("/api/rates?search=NAME%204"))
      #expect(found["names"]?.list.count == 11)
    }

    @Test func `metrics count the pages that look on`() throws {
      let dashboard = try TestDashboard(reports: nil)
      let curl = try ChildProcess("curl", ["-sN", dashboard.aggregator.url + "/api/live"])
      #expect(curl.output.waitForLine { $0.hasPrefix("data: ") } != nil)
      let metrics = try dashboard.aggregator.get("/metrics")
      #expect(metrics.contains("\neventbus_aggregator_page_streams 1\n"), "\(metrics)")
      curl.signal(SIGKILL)
      curl.wait()
      let isGone = try waitUntil {
        try dashboard.aggregator.get("/metrics").contains("\neventbus_aggregator_page_streams 0\n")
      }
      #expect(isGone)
    }

    @Test func `health tells of a publisher's dead letters, and that it stopped`() throws {
      let broker = try TestBroker()
      #expect(try broker.publish(input: EventLine.load(0..<100)).status == .exited(0))
      let fake = try FakeServer(
        FakeSegment(), script: try PublisherFaultTests.script("400one=LOAD-000050"))
      let publisher = try TestPublisher("segment", fake.url, broker)
      let aggregator = try TestAggregator(broker.bus, data: publisher.data)
      let hasDead = try waitUntil {
        let row = try segment(aggregator)
        return row?["dead"]?.int == 1 && row?["lag"]?.int == 0
      }
      let row = try segment(aggregator)
      #expect(hasDead && row?["state"]?.text == "running", "\(row ?? .null)")
      #expect(publisher.stop() == .exited(0))
      #expect(try waitUntil { try segment(aggregator)?["state"]?.text == "stopped" })
    }

    @Test func `health tells what a publisher that cannot send has met`() throws {
      let broker = try TestBroker()
      #expect(try broker.publish(input: EventLine.load(0..<100)).status == .exited(0))
      let fake = try FakeServer(FakeSegment(), script: [.status(401)])
      let publisher = try TestPublisher("segment", fake.url, broker)
      let aggregator = try TestAggregator(broker.bus, data: publisher.data)
      #expect(try waitUntil { try segment(aggregator)?["state"]?.text == "trouble" })
      let row = try segment(aggregator)
      #expect(row?["detail"]?.text == "configuration-error" && row?["lag"]?.int == 100)
      #expect(row?["lastError"]?.text?.contains("401") == true, "\(row ?? .null)")
    }

    private func segment(_ aggregator: TestAggregator) throws -> JSONValue? {
      let health = try JSONValue(text: try aggregator.get("/api/health"))
      return health["processes"]?.list.first { $0["name"]?.text == "segment" }
    }
  }
}
