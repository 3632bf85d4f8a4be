import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// A publisher whose endpoint is its own bus's collector would send each event round for ever.
  @Suite struct CircleTests {
    @Test(arguments: ["segment", "webhook"])
    func `a publisher that leads back to its own bus is told so, and nothing goes round`(
      _ command: String
    ) throws {
      let broker = try TestBroker()
      let collector = try TestCollector(broker, [])
      _ = try broker.publish(lines: [EventLine.track("Round", id: "once")])
      let endpoint = command == "webhook" ? collector.url + "/v1/events" : collector.url
      let publisher = try PublisherProcess(
        command, bus: broker.bus, data: broker.folder.file("data"), endpoint: endpoint)
      #expect(try waitUntil { try publisher.state() == "configuration-error" })
      let reason = try publisher.status()["reason"]?.text ?? ""
      #expect(reason.contains("HTTP 508") && reason.contains("own bus"), "\(reason)")
      #expect(try broker.stored().count == 1)
      #expect(publisher.stop() == .exited(0))
    }

    @Test func `a collector of another bus takes them`() throws {
      let (here, there) = (try TestBroker(), try TestBroker())
      let collector = try TestCollector(there, [])
      _ = try here.publish(lines: [EventLine.track("Onward", id: "once")])
      let publisher = try PublisherProcess(
        "webhook", bus: here.bus, data: here.folder.file("data"),
        endpoint: collector.url + "/v1/events")
      #expect(try publisher.isSettled(1))
      #expect(try there.stored().map { $0["messageId"]?.text } == ["once"])
      #expect(publisher.stop() == .exited(0))
    }
  }
}
