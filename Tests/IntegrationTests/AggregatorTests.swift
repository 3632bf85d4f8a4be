import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// Reports over the bus, by command and by HTTP.
  @Suite struct AggregatorTests {
    @Test func `each odd name is counted once under its own bytes`() throws {
      let broker = try TestBroker()
      let aggregator = try TestAggregator(broker.bus)
      let names = OddNameTests.names
      let lines = names.enumerated().map { EventLine.track($1, id: "N01-\($0)") }
      #expect(try broker.publish(lines: lines).status == .exited(0))
      _ = try aggregator.status(at: lines.count)
      let report = try aggregator.report("events-by-day")
      #expect(report["total"]?["count"]?.int == names.count)
      let groups = report["groups"]?.list ?? []
      #expect(groups.allSatisfy { $0["count"]?.int == 1 })
      let found = Set(groups.compactMap { $0["by"]?.list.first?.text }.map { Array($0.utf8) })
      let sent = Set(try lines.map { try JSONValue(text: $0) }.names.map { Array($0.utf8) })
      #expect(found == sent)
      // Terminals get no control characters of an event.
      let table = try aggregator.run(["events-by-day"])
      #expect(!table.output.unicodeScalars.contains { $0 == "\u{202E}" || $0 == "\t" })
    }

    @Test func `killed again and again, with events sent twice and out of order, all count once`()
      throws
    {
      let broker = try TestBroker()
      let aggregator = try TestAggregator(broker.bus)
      let count = 10_000
      let lines = EventLine.load(0..<count).split(separator: "\n").map(String.init)
      var sent: [String] = []
      for block in stride(from: 0, to: count, by: 100) {
        for (index, line) in lines[block..<block + 100].reversed().enumerated() {
          sent.append(line)
          if index % 7 == 0 { sent.append(line) }
        }
      }
      for kill in 0..<10 {
        let part = sent[sent.count * kill / 10..<sent.count * (kill + 1) / 10]
        #expect(try broker.publish(lines: Array(part)).status == .exited(0))
        // Every other time while it has not stored all of it.
        if kill % 2 == 0 { _ = try aggregator.status(at: sent.count * (kill + 1) / 10) }
        aggregator.kill()
        try aggregator.start()
      }
      // The same file once more, after a restart.
      #expect(try broker.publish(lines: lines).status == .exited(0))
      let status = try aggregator.status(at: sent.count + count)
      #expect(status["ledger"]?["applied"]?.int == count)
      #expect(status["ledger"]?["duplicate"]?.int == sent.count)
      let counts = try aggregator.report("events-by-hour").counts()
      #expect(counts.count == 20 && counts.values.allSatisfy { $0 == Double(count / 20) })
      let users = try aggregator.report("users-by-day")
      #expect(users["total"]?["unique user"]?["value"]?.int == 5000)
      aggregator.process.signal(SIGTERM)
      #expect(aggregator.process.wait() == .exited(0), "\(aggregator.process.errorOutput.text)")
    }

    @Test func `reports come, change and go with their file`() throws {
      let broker = try TestBroker()
      let aggregator = try TestAggregator(
        broker.bus, reports: #"{"defaults": false, "reports": [{"name": "a", "window": "all"}]}"#)
      let lines = (0..<10).map { EventLine.track("Opened", id: "\($0)", user: "u\($0 % 3)") }
      #expect(try broker.publish(lines: lines).status == .exited(0))
      _ = try aggregator.status(at: 10)
      // What is wrong changes nothing, and is told with its line.
      try aggregator.write(reports: "{\"reports\": [\n{\"name\": \"b\", \"windw\": \"all\"}]}")
      let told = aggregator.process.errorOutput.waitForLine { $0.contains("reports.json, line 2") }
      #expect(told?.contains("did you mean") == true)
      #expect(try aggregator.report("a")["total"]?["count"]?.int == 10)
      try aggregator.write(
        reports: #"{"defaults": false, "reports": [{"name": "a", "window": "all"}, "#
          + #"{"name": "new", "window": "all"}, {"name": "filled", "window": "all", "#
          + #""measures": ["count", {"unique": "user"}], "fill": true}]}"#)
      let taken = try waitUntil { try aggregator.response("/api/reports/filled").status == "200" }
      #expect(taken, "\(aggregator.process.errorOutput.text)")
      #expect(try broker.publish(["--event", "Opened"]).status == .exited(0))
      _ = try aggregator.status(at: 11)
      #expect(try aggregator.report("a")["total"]?["count"]?.int == 11)
      #expect(try aggregator.report("new")["total"]?["count"]?.int == 1)
      let filled = try aggregator.report("filled")["total"]
      #expect(filled?["count"]?.int == 11)
      try aggregator.write(reports: #"{"defaults": false, "reports": [{"name": "a"}]}"#)
      #expect(try waitUntil { try aggregator.response("/api/reports/new").status == "404" })
      // It counts something else now, so it began anew.
      #expect(try aggregator.report("a")["windows"]?.list.isEmpty == true)
    }

    @Test func `counted again from the archive every report is the same`() throws {
      let broker = try TestBroker()
      let aggregator = try TestAggregator(
        broker.bus,
        reports: #"{"reports": [{"name": "kinds", "by": ["event"], "measures": ["count", "#
          + #"{"unique": "user", "exact": 100}, {"quantiles": "properties.n"}], "#
          + #""window": "minute"}, {"name": "visits", "sessions": {}}]}"#)
      let archiver = try TestArchiver(broker)
      let archive = archiver.directory
      let input = EventLine.load(0..<3000)
      #expect(try broker.publish(input: input + input).status == .exited(0))
      #expect(archiver.waitForCursor(6000))
      #expect(archiver.stop() == .exited(0))
      // What comes now lies in the journal alone.
      #expect(try broker.publish(input: EventLine.load(3000..<4000)).status == .exited(0))
      _ = try aggregator.status(at: 7000)
      aggregator.process.signal(SIGTERM)
      #expect(aggregator.process.wait() == .exited(0))
      #expect(try aggregator.recompute(archive, broker.bus) >= 3000)
      // What agreed is told with how much that was, and of what does not, where.
      let words = ["aggregator", "recompute", "--from-archive", archive, "--bus", broker.bus]
      let place = ["--data", aggregator.folder.file("data")]
      let reports = ["--reports", aggregator.folder.file("reports.json")]
      let same = try Program.run(words + place + reports)
      #expect(same.status == .exited(0))
      #expect(
        same.output.contains("7000 events read again, 3000 of the archive and 4000 of the"))
      #expect(same.output.contains("7 reports with") && same.output.contains("byte for byte"))
      let differing = try Program.run(words + place + reports + ["--exact", "Kind 1"])
      #expect(differing.status == .exited(1))
      let line = differing.lines.first { $0.hasPrefix("events-by-day") }
      #expect(line?.contains("DIFFERS") == true && line?.contains(" 200 ") == true, "\(line ?? "")")
      #expect(line?.contains(" 4000 ") == true && line?.contains("T00:00:00Z") == true)
      #expect(differing.output.contains("no report is the same; 7 differ"))
      // Damage may be why numbers differ, so it is named; here the journal has the events still.
      let part = try #require(
        try FileManager.default.subpathsOfDirectory(atPath: archive).first { $0.hasSuffix(".zst") })
      let file = URL(fileURLWithPath: archive + "/" + part)
      let whole = try Data(contentsOf: file)
      try whole.dropLast(9).write(to: file)
      let damaged = try Program.run(words + place + reports)
      // Its events are read from their second copies, which may be of another minute: no word of the numbers.
      #expect(damaged.errors.contains("damaged: \(file.path), byte "), "\(damaged.errors)")
      try whole.write(to: file)
      // A new report gets its past, and the others go on as they were.
      try aggregator.write(
        reports: #"{"reports": [{"name": "new", "by": ["event"], "measures": ["count", "#
          + #"{"sum": "properties.n"}]}]}"#)
      #expect(try aggregator.recompute(archive, broker.bus, ["--replace"]) >= 3000)
      try aggregator.start()
      #expect(try broker.publish(["--event", "Kind 0"]).status == .exited(0))
      let status = try aggregator.status(at: 7001)
      #expect(status["ledger"]?["applied"]?.int == 4001)
      let new = try aggregator.report("new")
      #expect(new["total"]?["sum properties.n"]?["value"]?.int == 3999 * 4000 / 2)
      #expect(new.counts().count == 20 && new["total"]?["count"]?.int == 4001)
      #expect(try aggregator.report("events-by-day")["total"]?["count"]?.int == 4001)
    }

    @Test func `an archive that begins too late replaces nothing unless it is allowed`() throws {
      let broker = try TestBroker()
      let aggregator = try TestAggregator(broker.bus, reports: #"{"reports": []}"#)
      #expect(try broker.publish(input: EventLine.load(0..<1000)).status == .exited(0))
      _ = try aggregator.status(at: 1000)
      let archiver = try TestArchiver(broker, ["--start", "latest"])
      #expect(try broker.publish(input: EventLine.load(1000..<2000)).status == .exited(0))
      _ = try aggregator.status(at: 2000)
      #expect(archiver.waitForCursor(2000))
      #expect(archiver.stop() == .exited(0))
      aggregator.process.signal(SIGTERM)
      #expect(aggregator.process.wait() == .exited(0))
      let arguments = [
        "aggregator", "recompute", "--from-archive", archiver.directory, "--bus", broker.bus,
        "--data", aggregator.folder.file("data"), "--replace",
      ]
      let refused = try Program.run(arguments)
      #expect(refused.status == .exited(1) && refused.errors.contains("1000 events"))
      try aggregator.start()
      #expect(try aggregator.report("events-by-day")["total"]?["count"]?.int == 2000)
      aggregator.process.signal(SIGTERM)
      #expect(aggregator.process.wait() == .exited(0))
      #expect(try Program.run(arguments + ["--partial"]).status == .exited(0))
      try aggregator.start()
      #expect(try aggregator.report("events-by-day")["total"]?["count"]?.int == 1000)
    }

    @Test func `who asks wrongly is told what is right`() throws {
      let broker = try TestBroker()
      let aggregator = try TestAggregator(broker.bus)
      let unknown = try aggregator.run(["event-by-hour"])
      #expect(unknown.status == .exited(1) && unknown.errors.contains("\"events-by-hour\"?"))
      #expect(try aggregator.response("/api/reports/events-by-day?from=soon").status == "400")
      #expect(try aggregator.response("/api/reports/events-by-day?format=xml").status == "400")
      for slip in [
        "reports/events-by-day?form=1d", "reports?from=1d", "rates?find=a", "live?x", "health?x=1",
      ] {
        let answer = try aggregator.response("/api/" + slip)
        #expect(answer.status == "400" && answer.body.contains("this address takes"), "\(slip)")
      }
      #expect(try aggregator.response("/api/reports?format=csv").status == "400")
      #expect(try aggregator.response("/status?name=x").status == "400")
      #expect(try aggregator.response("/metrics?x=1").status == "200")
      #expect(try aggregator.response("/api/nothing").status == "404")
      let list = try aggregator.run([])
      #expect(list.lines.count == 6 && list.output.contains("users-by-day"))
      let nobody = try Program.run(["report", "--aggregator", "http://127.0.0.1:9", "x"])
      #expect(nobody.status == .exited(69))
      let second = try Program.run([
        "aggregator", "--bus", broker.bus, "--port-base", "0", "--data",
        aggregator.folder.file("data"),
      ])
      #expect(second.status == .exited(73), "\(second.errors)")
      let wrong = aggregator.folder.file("wrong.json")
      try "{\"reports\": [{}]}".write(toFile: wrong, atomically: true, encoding: .utf8)
      let refused = try Program.run([
        "aggregator", "--bus", broker.bus, "--port-base", "0", "--reports", wrong, "--data",
        aggregator.folder.file("other"),
      ])
      #expect(refused.status == .exited(2) && refused.errors.contains("wrong.json, line 1"))
    }

    @Test func `other machines need a token`() throws {
      let broker = try TestBroker()
      let open = try Program.run([
        "aggregator", "--bus", broker.bus, "--listen", "0.0.0.0:0", "--port-base", "0",
      ])
      #expect(open.status == .exited(2) && open.errors.contains("--token"))
      let aggregator = try TestAggregator(broker.bus, ["--token", "s3cret"])
      #expect(try aggregator.response("/api/reports").status == "401")
      #expect(try aggregator.response("/metrics").status == "401")
      #expect(try aggregator.response("/healthz").status == "200")
      let given = ["Authorization": "Bearer s3cret"]
      #expect(try aggregator.response("/api/reports", given).status == "200")
      let wrong = ["Authorization": "Bearer s3cre"]
      #expect(try aggregator.response("/api/reports", wrong).status == "401")
      #expect(try aggregator.run(["--token", "s3cret"]).status == .exited(0))
    }
  }
}
