import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// `bench` as people run it, for a second or two each.
  @Suite struct BenchTests {
    private func bench(_ arguments: [String], limit: Duration = .seconds(60)) throws -> JSONValue {
      let run = try Program.run(["bench", "--json"] + arguments, limit: limit)
      try #require(run.status == .exited(0), "\(run.errors)\(run.output)")
      try #require(run.lines.count == 1)
      return try JSONValue(text: run.output)
    }

    private func isClean(_ result: JSONValue) -> Bool {
      ["lost", "duplicated", "reordered", "corrupted", "invented", "refused", "unacknowledged"]
        .allSatisfy { result[$0]?.int == 0 }
    }

    @Test func `it starts its own broker, counts every event and leaves nothing`() throws {
      let folder = try TemporaryFolder()
      let histogram = folder.file("latency.hgrm")
      let data = folder.file("data")
      try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: false)
      let result = try bench([
        "--events", "3000", "--producers", "2", "--subscribers", "2", "--data", data,
        "--histogram", histogram,
      ])
      #expect(result["published"]?.int == 3000)
      #expect(result["acknowledged"]?.int == 3000)
      #expect(result["durability"]?.text == "fsync")
      #expect(isClean(result), "\(result)")
      let text = try String(contentsOfFile: histogram, encoding: .utf8)
      #expect(text.hasPrefix("       Value     Percentile TotalCount 1/(1-Percentile)\n\n"))
      #expect(text.contains("#[Max     = "))
      #expect(try FileManager.default.contentsOfDirectory(atPath: data).isEmpty)
    }

    @Test(arguments: ["durable", "live"])
    func `at a rate events are sent by the clock`(_ mode: String) throws {
      let result = try bench([
        "--rate", "500", "--duration", "1s", "--warm-up", "200ms", "--mode", mode,
      ])
      // 1.2 s at 500 a second, whatever the answers took.
      #expect(result["published"]?.int == 600)
      #expect(result["latencyMicroseconds"]?["count"]?.int == 500)
      #expect(isClean(result), "\(result)")
    }

    @Test func `a backlog is built and read`() throws {
      let result = try bench(["--events", "5000", "--backlog"])
      #expect(result["isBacklog"] == .bool(true))
      #expect(isClean(result), "\(result)")
    }

    @Test func `a ladder ends with a rate that keeps its promise`() throws {
      // A debug build on a busy machine keeps this: a second is long, and the first rate low.
      let run = try Program.run(
        [
          "bench", "--json", "--slo", "1ms", "--rate", "2", "--duration", "300ms", "--warm-up",
          "0s",
        ], limit: .seconds(120))
      let result = try JSONValue(text: run.output)
      guard case .list(let steps)? = result["ladder"] else {
        Issue.record("no ladder in \(run.output)")
        return
      }
      #expect(!steps.isEmpty)
      // Whether a rate is found is the machine's; the exit code says which.
      let isFound = result["highestRate"] != .null
      #expect(run.status == .exited(isFound ? 0 : 1))
      #expect(steps.contains { $0["kept"] == .bool(true) } == isFound)
    }

    @Test func `on a running bus nobody else gets the events, and no name is left`() throws {
      let broker = try TestBroker()
      _ = try broker.publish(["--event", "Mine"])
      let result = try bench(["--bus", broker.bus, "--events", "500"])
      #expect(isClean(result), "\(result)")
      #expect(try broker.stored().names == ["Mine"])
      let consumers = try Program.run(["consumers", "list", "--json", "--bus", broker.bus])
      #expect(!consumers.output.contains("load-test"), "\(consumers.output)")
    }

    @Test func `a bus that only the environment names gets nothing`() throws {
      let broker = try TestBroker()
      let port = try #require(broker.bus.split(separator: ":").last)
      for (name, value) in [
        ("EVENTBUS_URL", broker.bus), ("EVENTBUS_BUS", broker.bus),
        ("EVENTBUS_PORT_BASE", String(port)),
      ] {
        let bench = try ChildProcess(
          Program.path, ["bench", "--json", "--events", "100"], environment: [name: value])
        #expect(bench.wait(.seconds(60)) == .exited(0), "\(bench.errorOutput.text)")
        let output = String(decoding: bench.output.waitForEnd(), as: UTF8.self)
        #expect(try JSONValue(text: output)["bus"] == .null, "\(name)")
      }
      #expect(try broker.stored().isEmpty)
    }

    @Test func `a short run has a rate too, by all of its events`() throws {
      let run = try Program.run(["bench", "--events", "100"])
      let line = run.lines.first { $0.hasPrefix("rate") }
      let rate = line?.firstMatch(of: /^rate +([0-9]+) events\/s/).flatMap { Int($0.1) }
      #expect(try #require(rate) > 0, "\(run.output)")
      #expect(line?.contains("received from the first to the last") == true, "\(run.output)")
    }

    @Test func `events that do not come are lost, and exit 4`() throws {
      let broker = try TestBroker()
      let bench = try ChildProcess(
        Program.path,
        [
          "bench", "--json", "--bus", broker.bus, "--rate", "200", "--duration", "3s",
          "--timeout", "1s",
        ])
      // Its subscriber is paused by an operator: what is published from then on does not reach it.
      var name: String?
      try #require(
        waitUntil {
          let list = try? Program.run(["consumers", "list", "--json", "--bus", broker.bus])
          name = list?.output.firstMatch(of: /load-test-[0-9a-f]+-0/).map { String($0.output) }
          return name != nil
        })
      _ = try Program.run(["consumers", "pause", try #require(name), "--bus", broker.bus])
      #expect(bench.wait(.seconds(30)) == .exited(4))
      let output = String(decoding: bench.output.waitForEnd(), as: UTF8.self)
      let lost = try #require(try JSONValue(text: output)["lost"]?.int)
      #expect(lost > 0)
    }

    @Test func `Ctrl-C ends it and all that it started`() throws {
      let folder = try TemporaryFolder()
      let bench = try ChildProcess(
        Program.path, ["bench", "--duration", "60s", "--data", folder.path])
      func files() -> [String] {
        (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
      }
      try #require(waitUntil { files().contains { $0.hasSuffix(".segment") } })
      bench.signal(SIGINT)
      #expect(bench.wait() == .exited(130))
      #expect(files().isEmpty)
    }

    @Test(arguments: [
      (["--size", "20"], "--size"), (["--backlog", "--mode", "live"], "--backlog"),
      (["--slo", "1ms", "--events", "5"], "--slo"),
      (["--bus", "tcp://127.0.0.1:1", "--mode", "live"], "--everybody"),
      (["--subscribers", "0", "--slo", "1ms"], "--subscribers"),
    ])
    func `what cannot be meant is told`(_ row: (words: [String], named: String)) throws {
      let run = try Program.run(["bench"] + row.words)
      #expect(run.status == .exited(2))
      #expect(run.errorLines.count == 1 && run.errors.contains(row.named), "\(run.errors)")
    }

    @Test func `a bus that is not there is exit 69`() throws {
      let run = try Program.run(["bench", "--bus", "tcp://127.0.0.1:1", "--timeout", "200ms"])
      #expect(run.status == .exited(69))
      #expect(run.errorLines.count == 1)
    }
  }
}
