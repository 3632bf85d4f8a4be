import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// Events over HTTP, from the socket to the journal.
  @Suite struct CollectorTests {
    /// A request, the statuses of its answers, and how many of its events are stored.
    struct Sent: Sendable {
      var name: String
      var statuses: [Int]
      var stored: Int
    }

    @Test func `requests as they are recorded are answered and stored as they should`() throws {
      let broker = try TestBroker()
      let collector = try TestCollector(broker)
      var total = 0
      for sent in [
        Sent(name: "H01", statuses: [200], stored: 4),
        Sent(name: "H03", statuses: [200], stored: 4),
        Sent(name: "H03b", statuses: [200], stored: 2),
        Sent(name: "H05", statuses: [200], stored: 4),
        Sent(name: "H05b", statuses: [200], stored: 4),
        Sent(name: "H05c", statuses: [400], stored: 0),
        Sent(name: "H10", statuses: [401], stored: 0),
        Sent(name: "H10b", statuses: [401], stored: 0),
        Sent(name: "H13", statuses: [200], stored: 4),
        Sent(name: "H13", statuses: [200], stored: 4),
        Sent(name: "H14a", statuses: [200], stored: 0),
        Sent(name: "H14b", statuses: [400], stored: 0),
        Sent(name: "H14c", statuses: [400], stored: 0),
        Sent(name: "H14d", statuses: [400], stored: 0),
        Sent(name: "H14e", statuses: [400], stored: 0),
        Sent(name: "H14f", statuses: [400], stored: 0),
        Sent(name: "H15", statuses: [200], stored: 4),
        Sent(name: "H16", statuses: [200, 200, 200, 200], stored: 12),
        Sent(name: "D01a", statuses: [200], stored: 1),
        Sent(name: "D01b", statuses: [200], stored: 2),
        Sent(name: "D01c", statuses: [200], stored: 2),
      ] {
        guard let bytes = try Inputs.bytes("\(sent.name).http") else { continue }
        let client = try TestClient(port: collector.port)
        try client.send(bytes)
        let answers = try sent.statuses.map { _ in try client.receive() }
        #expect(answers.map(\.status) == sent.statuses, "\(sent.name)")
        let taken = answers.flatMap(\.codes).count { $0 == "STORED" }
        #expect(taken == sent.stored, "\(sent.name)")
        total += sent.stored
      }
      let stored = try broker.stored()
      #expect(stored.count == total)
      #expect(stored.allSatisfy { $0["receivedAt"]?.text?.hasSuffix("Z") == true })
      #expect(!collector.process.errorOutput.text.contains("wrong-key"))
      try checkStored(stored)
      #expect(collector.stop() == .exited(0))
    }

    /// What the recorded requests must have become, as far as they were there.
    private func checkStored(_ stored: [JSONValue]) throws {
      let byID = Dictionary(grouping: stored) { $0["messageId"]?.text ?? "" }
      for event in stored where event["messageId"]?.text?.hasPrefix("H05-") == true {
        #expect(event["properties"]?["city"] == .text("Zürich 🎮"))
      }
      let opened = stored.filter {
        $0["event"] == .text("Opened") && $0["originalTimestamp"] == nil
      }
      #expect(Set(opened.messageIDs).count == opened.count)
      guard let first = byID["D01b-001"]?.first, let second = byID["D01b-002"]?.first else {
        return
      }
      #expect(first["originalTimestamp"] == .text("2031-01-01T00:00:00.000Z"))
      let times = try [first, second].map {
        try #require(Timestamp(text: $0["timestamp"]?.text ?? ""))
      }
      #expect(times[1].nanoseconds - times[0].nanoseconds == 5_000_000_000)
      #expect(byID["D01c-002"]?.first?["timestamp"] == .text("2024-05-01T12:00:01.000Z"))
      #expect(byID["D01c-001"]?.first?["timestamp"] == byID["D01c-001"]?.first?["receivedAt"])
    }

    /// Files of events, each file as one batch: only the good ones are stored.
    @Test func `one bad line of a file does not sink the batch`() throws {
      let broker = try TestBroker()
      let collector = try TestCollector(broker)
      for (name, good) in [
        ("N06.ndjson", 1), ("P06.ndjson", 2), ("N03.ndjson", 0), ("P08.ndjson", 0),
      ] {
        guard let bytes = try Inputs.bytes(name) else { continue }
        let lines = bytes.split(separator: 0x0A)
        let body = Array("{\"batch\":[".utf8) + lines.joined(separator: [0x2C]) + Array("]}".utf8)
        let answer = try collector.post("/v1/batch", body)
        #expect(answer.status == 200, "\(name): \(answer.body.prefix(300))")
        #expect(answer.codes.count == lines.count)
        let stored = answer.codes.count { $0 == "STORED" }
        if good > 0 { #expect(stored == good, "\(name): \(answer.codes)") }
      }
      if let bytes = try Inputs.bytes("P08b.ndjson") {
        let lines = bytes.split(separator: 0x0A)
        let codes = try lines.map {
          try collector.post("/v1/events", Array("[".utf8) + $0 + [0x5D])
        }
        #expect(codes.map(\.status) == [400, 200])
      }
      #expect(try broker.isUp())
      #expect(try collector.post(batch: [EventLine.track("After", id: "a-1")]).codes == ["STORED"])
    }

    @Test func `one huge event is refused by its id and the others are stored`() throws {
      let broker = try TestBroker()
      let collector = try TestCollector(broker)
      var lines = (0..<100).map { EventLine.track("Step", id: "R11-\($0)") }
      let blob = String(repeating: "b", count: 2_400_000)
      lines[50] = EventLine.track("Step", id: "R11-50", properties: "{\"blob\":\"\(blob)\"}")
      let answer = try collector.post(batch: lines)
      #expect(answer.codes.indices.filter { answer.codes[$0] == "TOO_LARGE" } == [50])
      #expect(answer.body.contains("{\"index\":50,\"messageId\":\"R11-50\",\"code\":\"TOO_LARGE\""))
      #expect(try broker.stored().count == 99)
    }

    @Test func `a body may have the limit and not a byte more`() throws {
      let broker = try TestBroker()
      let collector = try TestCollector(
        broker, ["--write-key", TestCollector.key, "--max-body", "512KiB"])
      let start = "{\"batch\":[\(EventLine.track("A", id: "h08"))]"
      for (size, status) in [(524_288, 200), (524_289, 413), (600_000, 413), (5_000_000, 413)] {
        let body = start + String(repeating: " ", count: size - start.utf8.count - 1) + "}"
        let answer = try collector.post("/v1/batch", body)
        #expect(answer.status == status)
        if status == 413 { #expect(answer.body.contains("524288")) }
      }
      // The length alone is enough.
      let client = try TestClient(port: collector.port)
      try client.send(
        "POST /v1/batch HTTP/1.1\r\nHost: t\r\nContent-Length: 600000\r\n\(TestCollector.basic)\r\n"
      )
      #expect(try client.receive().status == 413)
      #expect(try broker.stored().count == 1)
      #expect(try collector.metric("eventbus_collector_too_large_total") == 4)
    }

    @Test(arguments: [
      ("GET /nowhere HTTP/1.1", "", 404, "not_found"),
      ("PUT /v1/batch HTTP/1.1", "Content-Length: 0", 405, "wrong_method"),
      ("POST /v1/batch HTTP/1.1", "Content-Length: 99999999", 413, "too_large"),
      (
        "POST /v1/batch HTTP/1.1", "Content-Length: 5\r\nContent-Length: 6", 400, "bad_framing"
      ),
      ("GET /\(String(repeating: "p", count: 9000)) HTTP/1.1", "", 414, "path_too_long"),
    ])
    func `what is refused before an event is read has the form of the other answers`(
      _ line: String, _ header: String, _ status: Int, _ code: String
    ) throws {
      let collector = try TestCollector(bus: "tcp://127.0.0.1:1", [])
      let client = try TestClient(port: collector.port)
      try client.send("\(line)\r\nHost: t\r\n\(header.isEmpty ? "" : header + "\r\n")\r\n")
      let answer = try client.receive()
      #expect(answer.status == status)
      #expect(answer.headers["content-type"] == "application/json", "\(answer.headers)")
      let body = try JSONValue(text: answer.body)
      #expect(body["success"] == .bool(false) && body["code"]?.text == code, "\(answer.body)")
      #expect(body["message"]?.text?.isEmpty == false)
    }

    @Test func `a client that asks first is told to go on, or why not`() throws {
      let broker = try TestBroker()
      let collector = try TestCollector(broker)
      let client = try TestClient(port: collector.port)
      let body = "[\(EventLine.track("A", id: "e"))]"
      try client.send(
        "POST /v1/events HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\n\(TestCollector.basic)"
          + "Content-Length: \(body.utf8.count)\r\n\r\n")
      #expect(try client.receive().status == 100)
      try client.send(body)
      #expect(try client.receive().codes == ["STORED"])
    }

    @Test func `a page of another origin may send`() throws {
      let broker = try TestBroker()
      let collector = try TestCollector(broker)
      let client = try TestClient(port: collector.port)
      try client.send(
        "OPTIONS /v1/batch HTTP/1.1\r\nHost: t\r\nOrigin: https://shop.example\r\n"
          + "Access-Control-Request-Headers: authorization,content-type\r\n\r\n")
      let preflight = try client.receive()
      #expect(preflight.status == 204)
      #expect(preflight.headers["access-control-allow-origin"] == "https://shop.example")
      #expect(preflight.headers["access-control-allow-headers"] == "authorization,content-type")
      // As sendBeacon does: text/plain, the key in the body.
      let answer = try collector.post(
        "/v1/t", "{\"event\":\"Left\",\"userId\":\"u\",\"writeKey\":\"test-key\"}",
        headers: "Origin: https://shop.example\r\nContent-Type: text/plain;charset=UTF-8\r\n")
      #expect(answer.codes == ["STORED"])
      #expect(answer.headers["access-control-allow-credentials"] == "true")
      #expect(try broker.stored().first?["writeKey"] == nil)
    }

    @Test func `what a strict import refuses is told, and the rest is stored`() throws {
      let broker = try TestBroker()
      let collector = try TestCollector(broker)
      let good =
        #"{"event":"A","properties":{"time":1700000000,"distinct_id":"d","$insert_id":"i-1"}}"#
      let answer = try collector.post("/import?strict=1", "[\(good),{\"event\":\"B\"}]")
      #expect(answer.status == 400)
      #expect(answer.json?["num_records_imported"] == .number(1))
      guard case .list(let failed)? = answer.json?["failed_records"] else {
        Issue.record("no failed_records")
        return
      }
      #expect(failed.map { $0["index"] } == [.number(1)])
      #expect(try broker.stored().messageIDs == ["i-1"])
      #expect(try collector.post("/track", good, headers: TestCollector.basic).body == "1")
    }
  }
}
