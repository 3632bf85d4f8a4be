import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// What a running broker tells about itself, and what it lets be changed.
  @Suite struct StatusTests {
    @Test func `status counts the events of each name`() throws {
      let broker = try TestBroker()
      _ = try broker.publish(["--event", "Game Started"])
      _ = try broker.publish(["--event", "Game Started"])
      let run = try Program.run(["status", "--json", "--bus", broker.bus])
      try #require(run.status == .exited(0), "\(run.errors)")
      let status = try JSONValue(text: run.output)
      #expect(status["head"]?.int == 2)
      #expect(status["ledger"]?["stored"]?.int == 2)
      guard case .list(let names)? = status["names"] else {
        Issue.record("no names in \(run.output)")
        return
      }
      #expect(names.map { $0["name"]?.text } == ["Game Started"])
      #expect(names.map { $0["events"]?.int } == [2])
    }

    @Test func `status gives the bytes that the journal has on disk at that moment`() throws {
      let broker = try TestBroker(["--segment-bytes", "64KiB"])
      let data = broker.folder.file("data")
      for _ in 0..<5 {
        let run = try broker.publish(["--count", "300"])
        try #require(run.status == .exited(0), "\(run.errors)")
        let text = try Program.run(["status", "--json", "--bus", broker.bus]).output
        let status = try JSONValue(text: text)
        let files = try FileManager.default.contentsOfDirectory(atPath: data)
          .filter { $0.hasSuffix(".segment") }
        let bytes = try files.map {
          try FileManager.default.attributesOfItem(atPath: data + "/" + $0)[.size] as? Int ?? 0
        }
        // An idle journal is marked, at most once a second: that may come in between.
        let told = status["journalBytes"]?.int ?? 0
        #expect((0...100).contains(bytes.reduce(0, +) - told), "\(bytes), \(told)")
        #expect(status["segments"]?.int == files.count)
      }
    }

    @Test func `a bus that is not there is one clear line and exit 69`() throws {
      let run = try Program.run(["status", "--bus", "tcp://127.0.0.1:1", "--timeout", "200ms"])
      #expect(run.status == .exited(69))
      #expect(run.errorLines.count == 1)
      #expect(run.errors.contains("tcp://127.0.0.1:1"))
    }

    @Test func `metrics and readiness answer over HTTP`() throws {
      let broker = try TestBroker()
      let metrics = try #require(broker.addresses["metrics"])
      let ready = try ChildProcess.run("curl", ["-sf", metrics + "/readyz"])
      #expect(ready.status == .exited(0))
      let text = try ChildProcess.run("curl", ["-sf", metrics + "/metrics"])
      let lines = String(decoding: text.output, as: UTF8.self).split(separator: "\n")
      #expect(lines.contains("eventbus_broker_taking_events 1"))
      #expect(lines.contains { $0.hasPrefix("process_resident_memory_bytes ") })
      let rebound = try ChildProcess.run(
        "curl", ["-s", "-w", "%{http_code}", "-H", "Host: evil.example", metrics + "/status"])
      let answer = String(decoding: rebound.output, as: UTF8.self)
      #expect(answer.hasSuffix("403") && !answer.contains("\"head\""), "\(answer)")
    }

    @Test func `a cursor is sought, paused, resumed and deleted`() throws {
      let broker = try TestBroker()
      _ = try broker.publish(["--event", "Game Started"])
      _ = try broker.stored(["--name", "reader"])
      func consumers(_ words: String...) throws -> Program.Run {
        try Program.run(["consumers"] + words + ["--json", "--bus", broker.bus])
      }
      let sought = try consumers("seek", "reader", "earliest")
      #expect(sought.output.contains("\"cursor\":0"), "\(sought.errors)")
      #expect(try consumers("pause", "reader").output.contains("\"paused\":true"))
      #expect(try consumers("resume", "reader").output.contains("\"paused\":false"))
      #expect(try consumers("delete", "reader").status == .exited(0))
      let gone = try consumers("show", "reader")
      #expect(gone.status == .exited(1))
      #expect(gone.errorLines == ["eventbus consumers show: no subscriber is named 'reader'"])
    }

    @Test func `a cursor that was sought is on the disk when the command ends`() throws {
      let broker = try TestBroker()
      _ = try broker.publish(lines: (0..<5).map { EventLine.track("A", id: "\($0)") })
      _ = try broker.stored(["--name", "reader"])
      for offset in [3, 1, 4] {
        let sought = try Program.run([
          "consumers", "seek", "reader", "\(offset)", "--bus", broker.bus,
        ])
        #expect(sought.status == .exited(0), "\(sought.errors)")
        broker.kill()
        try broker.start()
        let shown = try Program.run([
          "consumers", "show", "reader", "--json", "--bus", broker.bus,
        ])
        #expect(try JSONValue(text: shown.output)["cursor"]?.int == offset)
      }
    }

    @Test func `destinations are looked for where the broker keeps its own data`() throws {
      let broker = try TestBroker()
      let run = try Program.run(["status", "--bus", broker.bus])
      #expect(
        run.lines.last?.hasPrefix("Destinations: none in /") == true
          && run.lines.last?.hasSuffix("/data") == true, "\(run.output)")
    }

    @Test func `status tells subscribers with a name from readers without one`() throws {
      let broker = try TestBroker()
      let tails = try [["--name", "reader"], [], []].map { try broker.tail($0) }
      defer { tails.forEach { $0.signal(SIGKILL) } }
      let run = try Program.run(["status", "--bus", broker.bus])
      #expect(
        run.output.contains("0 producers, 1 subscriber and 2 readers without a name connected"),
        "\(run.output)")
    }

    @Test func `a connected subscriber whose cursor is moved is shown as connected`() throws {
      let broker = try TestBroker()
      _ = try broker.publish(["--event", "Game Started"])
      let tail = try broker.tail(["--name", "reader"])
      defer { tail.signal(SIGKILL) }
      for _ in 0..<5 {
        let run = try Program.run([
          "consumers", "seek", "reader", "earliest", "--json", "--bus", broker.bus,
        ])
        #expect(try JSONValue(text: run.output)["connected"] == .bool(true), "\(run.output)")
      }
      tail.signal(SIGKILL)
      tail.wait()
      // Nobody is there: the broker misses it within its heartbeats.
      #expect(
        try waitUntil(.seconds(60)) {
          let run = try Program.run([
            "consumers", "seek", "reader", "latest", "--json", "--bus", broker.bus,
          ])
          return try JSONValue(text: run.output)["connected"] == .bool(false)
        })
    }

    @Test func `a subscriber in use is not deleted`() throws {
      let broker = try TestBroker()
      let tail = try broker.tail(["--name", "reader"])
      let run = try Program.run(["consumers", "delete", "reader", "--bus", broker.bus])
      #expect(run.status == .exited(1))
      #expect(run.errors.contains("is connected: stop it first"))
      tail.signal(SIGTERM)
      tail.wait()
    }
  }
}
