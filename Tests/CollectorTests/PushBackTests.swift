import BusClient
import Collector
import Primitives
import TestSupport
import Testing

/// A collector in this process whose bus is not there.
@Suite(.timeLimit(.minutes(5)))
struct PushBackTests {
  private func post(_ port: UInt16, _ body: String) throws -> TestClient {
    let client = try TestClient(port: port)
    try client.send(
      "POST /v1/events HTTP/1.1\r\nHost: t\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    return client
  }

  private func configuration() -> CollectorConfiguration {
    var configuration = CollectorConfiguration(bus: "tcp://127.0.0.1:9")
    configuration.port = 0
    configuration.grace = .milliseconds(100)
    return configuration
  }

  @Test func `requests beyond the bound are told to slow down, those within it wait`() throws {
    var configuration = configuration()
    configuration.maximumPendingBytes = 100
    let collector = try Collector(configuration)
    let first = try post(collector.port, #"[{"event":"A"},{"event":"B"}]"#)
    #expect(waitUntil { collector.metrics.waiting == 1 })
    let answer = try post(collector.port, #"[{"event":"C"}]"#).receive()
    #expect(answer.status == 429)
    #expect(answer.headers["retry-after"] == "1")
    #expect(collector.metrics.waiting == 1)
    #expect(collector.stop().unacknowledged == 2)
    #expect(try first.receive().status == 503)
  }

  @Test func `what needs no bus is answered without one`() throws {
    let collector = try Collector(configuration())
    for (body, status) in [("[]", 200), (#"[{"event":""}]"#, 200), ("[", 400)] {
      #expect(try post(collector.port, body).receive().status == status)
    }
    #expect(collector.metrics.stored == 0 && collector.metrics.refused == 1)
    #expect(!collector.metrics.isBusConnected)
    _ = collector.stop()
  }

  @Test func `an address that others can reach needs a key`() {
    var configuration = configuration()
    configuration.host = "0.0.0.0"
    #expect(throws: CollectorError.needsKeys(host: "0.0.0.0")) { try Collector(configuration) }
  }
}
