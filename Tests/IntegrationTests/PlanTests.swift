import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// Plans as people and apps meet them: files, the bus, the collector (S3.6, S3.8).
  @Suite struct PlanTests {
    private static func plan(_ version: Int, event: String = "Banner Tapped") -> String {
      """
      {"version": \(version), "collection": {"events": [
        {"event": "\(event)", "paths": ["#tap:#*#BannerView[*]#..."],
         "properties": {"channel": {"value": "app"}}}]}}
      """
    }

    private static func raw(_ path: String, id: String) -> String {
      EventLine.track("$autotrack", id: id, properties: "{\"$path\":\"\(path)\"}")
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ name: String, _ text: String) throws -> String {
      try text.write(toFile: folder.file(name), atomically: true, encoding: .utf8)
      return folder.file(name)
    }

    private func get(
      _ collector: TestCollector, tag: String? = nil, query: String = ""
    ) throws -> TestAnswer {
      let client = try TestClient(port: collector.port)
      let condition = tag.map { "If-None-Match: \($0)\r\n" } ?? ""
      try client.send("GET /v1/plan\(query) HTTP/1.1\r\nHost: t\r\n\(condition)\r\n")
      return try client.receive()
    }

    @Test func `S3.6 a published plan is served, replaced and kept without a restart`() throws {
      let broker = try TestBroker()
      let options = ["--data", folder.file("data")]
      let collector = try TestCollector(broker, options)
      #expect(try get(collector).status == 404)
      let first = try file("1.json", Self.plan(1))
      let run = try Program.run(["plan", "publish", first, "--bus", broker.bus])
      #expect(run.status == .exited(0), "\(run.errors)")
      #expect(try waitUntil { try get(collector).status == 200 })
      let answer = try get(collector)
      let tag = try #require(answer.headers["etag"])
      #expect(answer.json?["version"] == .number(1))
      #expect(try get(collector, tag: tag).status == 304)
      // With a slip it would not wait, and the client ask again at once.
      #expect(try get(collector, tag: tag, query: "?wiat=30").status == 400)
      #expect(try get(collector, tag: tag, query: "?wait=soon").status == 400)
      // Who waits is answered by the next plan.
      let waiting = try TestClient(port: collector.port)
      try waiting.send(
        "GET /v1/plan?wait=30 HTTP/1.1\r\nHost: t\r\nIf-None-Match: \(tag)\r\n\r\n")
      let second = try file("2.json", Self.plan(2, event: "Banner Pressed"))
      #expect(
        try Program.run(["plan", "publish", second, "--bus", broker.bus]).status == .exited(0))
      #expect(try waiting.receive().json?["version"] == .number(2))
      // A lower version would not count, and says so.
      let old = try Program.run(["plan", "publish", first, "--bus", broker.bus])
      #expect(old.status == .exited(1))
      #expect(old.errors.contains("the bus has version 2"))
      // Without the journal it is still there, and goes back to the bus's other readers.
      #expect(collector.stop() == .exited(0))
      let empty = try TestBroker()
      let next = try TestCollector(empty, options)
      #expect(try get(next).json?["version"] == .number(2))
    }

    @Test func `S3.8 raw paths are mapped by the collector, listed and tried over again`() throws {
      let broker = try TestBroker()
      let collector = try TestCollector(broker, ["--data", folder.file("data")])
      let plan = try file("plan.json", Self.plan(1))
      #expect(try Program.run(["plan", "publish", plan, "--bus", broker.bus]).status == .exited(0))
      #expect(try waitUntil { try get(collector).status == 200 })
      let answer = try collector.post(
        batch: [
          Self.raw("#tap:#UITapGestureRecognizer#BannerView[0]#Home", id: "1"),
          Self.raw("#tap:#Other#Home", id: "2"), Self.raw("#tap:#Other#Home#s=1", id: "3"),
        ])
      #expect(answer.codes == ["STORED", "STORED", "STORED"])
      let names = try broker.stored(["--exact", "$autotrack", "--exact", "Banner Tapped"])
        .compactMap { $0["event"]?.text }
      #expect(names == ["Banner Tapped", "$autotrack", "$autotrack"])
      let paths = try Program.run(["plan", "paths", "--bus", broker.bus])
      #expect(paths.status == .exited(0))
      #expect(paths.output == "2\t#tap:#Other#Home\n")
      let draft = try file(
        "draft.json", Self.plan(2, event: "Ad Tapped").replacing("BannerView[*]#...", with: "*"))
      let trial = try Program.run(["plan", "try", draft, "--bus", broker.bus, "--json"])
      #expect(
        trial.output == """
          {"rows":[{"recorded":"$autotrack","becomes":"Ad Tapped","count":2},\
          {"recorded":"Banner Tapped","becomes":"(unmapped)","count":1}],"withoutPath":0}

          """)
    }

    @Test func `a plan is made of events, checks them, and its faults have lines`() throws {
      let events = try file(
        "events.ndjson",
        """
        {"event":"Level Done","properties":{"level":1,"name":"a"}}
        {"event":"Level Done","properties":{"level":2}}

        """)
      let inferred = try Program.run(["plan", "infer", events])
      #expect(inferred.status == .exited(0), "\(inferred.errors)")
      let plan = try file("plan.json", inferred.output)
      #expect(try Program.run(["plan", "validate", plan]).status == .exited(0))
      #expect(try Program.run(["plan", "check", plan, events]).status == .exited(0))
      let wrong = try Program.run(
        ["plan", "check", plan, "-", "--json"],
        input:
          "{\"event\":\"Level done\"}\n{\"event\":\"Level Done\",\"properties\":{\"level\":\"1\"}}\n"
      )
      #expect(wrong.status == .exited(3))
      #expect(wrong.output.contains("did you mean \\\"Level Done\\\"?"))
      #expect(wrong.output.contains("string, where integer is planned"))
      let broken = try file("broken.json", inferred.output.replacing("\"type\"", with: "\"tpye\""))
      let fault = try Program.run(["plan", "validate", broken])
      #expect(fault.status == .exited(1))
      #expect(
        fault.errors.contains("line 5: \"tpye\" is not known in \"level\"; did you mean \"type\"?"))
    }

    @Test func `a breaking change ends diff with 1 and a harmless one with 0`() throws {
      let old = try file(
        "old.json",
        "{\"version\": 1, \"events\": {\"A\": {\"properties\": {\"p\": {\"type\": \"integer\"}}}}}")
      let wider = try file(
        "wider.json",
        "{\"version\": 2, \"events\": {\"A\": {\"properties\": {\"p\": {\"type\": \"integer\"}}}, \"B\": {}}}"
      )
      let narrower = try file("narrower.json", "{\"version\": 2, \"events\": {\"A\": {}}}")
      #expect(try Program.run(["plan", "diff", old, wider]).status == .exited(0))
      let run = try Program.run(["plan", "diff", old, narrower])
      #expect(run.status == .exited(1))
      #expect(run.output == "\"A\", \"p\": removed (breaks producers)\n")
      let swift = try Program.run(["plan", "export", old, "--import", "EventBus"])
      #expect(swift.output.contains("public import EventBus"))
      #expect(swift.output.contains("public var p: Int?"))
    }

    @Test func `without a bus plan commands say so and exit 69`() throws {
      let plan = try file("plan.json", Self.plan(1))
      let run = try Program.run(
        ["plan", "publish", plan, "--bus", "tcp://127.0.0.1:1", "--timeout", "300ms"])
      #expect(run.status == .exited(69))
    }
  }
}
