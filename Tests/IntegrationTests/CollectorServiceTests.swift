import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// The collector as a service: its start and end, and a bus that is away, full or dying.
  @Suite struct CollectorServiceTests {
    @Test func `without a bus requests are answered with 503, and stored when it is back`() throws {
      let base = try FreePorts.base()
      let collector = try TestCollector(
        bus: "tcp://127.0.0.1:\(base)", ["--bus-deadline", "300ms"])
      let body = "[\(EventLine.track("A", id: "away"))]"
      let refused = try collector.post("/v1/events", body)
      #expect(refused.status == 503)
      #expect(refused.headers["retry-after"] == "5")
      #expect(try collector.isReady() == false)
      let broker = try TestBroker(portBase: base)
      #expect(try waitUntil { try collector.isReady() })
      #expect(try collector.post("/v1/events", body).status == 200)
      // What was sent while the bus was away is on its way to it, and the second request is the same.
      #expect(try broker.stored().messageIDs == ["away"])
    }

    @Test func `what was acknowledged is stored though the broker is killed again and again`()
      throws
    {
      let base = try FreePorts.base()
      let broker = try TestBroker(portBase: base)
      let collector = try TestCollector(broker)
      var acknowledged: Set<String> = []
      var number = 0
      for _ in 0..<3 {
        for _ in 0..<30 {
          let ids = (0..<20).map { "K-\(number + $0)" }
          number += 20
          let answer = try collector.post(batch: ids.map { EventLine.track("A", id: $0) })
          if answer.status == 200 { acknowledged.formUnion(ids) }
        }
        broker.kill()
        try broker.start()
        #expect(try waitUntil { try collector.isReady() })
      }
      #expect(acknowledged.count > 1000)
      #expect(acknowledged.subtracting(try broker.stored().messageIDs).isEmpty)
    }

    @Test func `a bus that takes nothing more is told as 429`() throws {
      let broker = try TestBroker(["--keep-unread-bytes", "256KiB", "--segment-bytes", "64KiB"])
      // A name that reads nothing holds the journal.
      let tail = try broker.tail(["--name", "holder"])
      tail.signal(SIGSTOP)
      // By default a request may wait ten seconds for the bus: a full one is told much sooner.
      let collector = try TestCollector(broker)
      let filler = "{\"x\":\"\(String(repeating: "x", count: 2000))\"}"
      let lines = (0..<100).map { EventLine.track("A", id: "\($0)", properties: filler) }
      var last: TestAnswer?
      let isFull = try waitUntil {
        let answer = try collector.post(batch: lines)
        last = answer
        return answer.status == 429
      }
      #expect(isFull, "\(last?.body ?? "")")
      #expect(last?.headers["retry-after"] == "5")
      #expect(try collector.isReady() == false)
      tail.signal(SIGKILL)
    }

    @Test func `many slow clients keep nobody waiting and are cut`() throws {
      let broker = try TestBroker()
      let collector = try TestCollector(
        broker, ["--write-key", TestCollector.key, "--client-timeout", "2s"])
      let before = collector.openFiles
      let head = "POST /v1/batch HTTP/1.1\r\nHost: t\r\nContent-Le"
      let slow = try (0..<300).map { _ in try TestClient(port: collector.port) }
      for client in slow { try client.send(head) }
      let start = SystemClock.monotonic()
      for number in 0..<20 {
        let answer = try collector.post(batch: [EventLine.track("A", id: "fast-\(number)")])
        #expect(answer.codes == ["STORED"])
      }
      #expect(SystemClock.monotonic() - start < 10_000_000_000)
      for client in slow { #expect(try client.isClosed()) }
      #expect(waitUntil { collector.openFiles <= before + 5 }, "\(collector.openFiles)")
    }

    @Test func `garbage on the port harms nobody`() throws {
      let broker = try TestBroker()
      let collector = try TestCollector(broker)
      let before = collector.openFiles
      var random = SystemRandomNumberGenerator()
      let inputs = try ["B09a", "B09b", "B09c", "B09d", "B09e"].compactMap {
        try Inputs.bytes("\($0).bin")
      }
      for number in 0..<200 {
        let client = try TestClient(port: collector.port)
        let made = (0..<500).map { _ in UInt8.random(in: 0...255, using: &random) }
        let bytes = inputs.isEmpty ? made : inputs[number % inputs.count]
        // It may be cut while it sends.
        do { try client.send(bytes) } catch is SystemError {}
      }
      #expect(try collector.post(batch: [EventLine.track("A", id: "after")]).codes == ["STORED"])
      #expect(waitUntil { collector.openFiles <= before + 5 })
      #expect(!collector.process.errorOutput.text.contains("Fatal error"))
    }

    @Test func `a start that cannot be right is refused with a reason`() throws {
      let folder = try TemporaryFolder()
      let rules = folder.file("rules.json")
      try Data(#"{"rules":[{"drop":["a..b"]}]}"#.utf8).write(to: URL(fileURLWithPath: rules))
      for (options, text) in [
        (["--listen", "0.0.0.0:0"], "--write-key"), (["--rules", rules], "rules[0].drop[0]"),
        (["--tls-key", rules], "--tls-certificate"), (["--write-key", ""], "--write-key"),
        (["--max-body", "3"], "--max-body"),
      ] {
        let run = try Program.run(["collector", "--metrics", "127.0.0.1:0"] + options)
        #expect(run.status == .exited(2), "\(options): \(run.errors)")
        #expect(run.errors.contains(text), "\(options): \(run.errors)")
      }
    }

    @Test func `keys come from the environment, rules from a file`() throws {
      let broker = try TestBroker()
      let folder = try TemporaryFolder()
      let rules = folder.file("rules.json")
      try Data(#"{"rules":[{"drop":["properties.email"]}]}"#.utf8).write(
        to: URL(fileURLWithPath: rules))
      let keys = folder.file("keys")
      try Data("one\ntwo\n".utf8).write(to: URL(fileURLWithPath: keys))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keys)
      let collector = try TestCollector(
        broker, ["--rules", rules, "--write-key-file", keys])
      let body = "[\(EventLine.track("A", id: "a", properties: #"{"email":"a@b","n":1}"#))]"
      #expect(try collector.post("/v1/events?writeKey=two", body, headers: "").status == 200)
      #expect(try collector.post("/v1/events?writeKey=three", body, headers: "").status == 401)
      #expect(try broker.stored().first?["properties"] == .object(["n": .number(1)]))
      #expect(
        try collector.metric(
          "eventbus_collector_requests_total{route=\"/v1/events\",status=\"401\"}") == 1)
    }
  }
}
