import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// The archiver as a process: what comes over the bus is in its files, once.
  @Suite struct ArchiverTests {
    @Test func `what was published is in the files, field for field`() throws {
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker)
      let lines =
        try Inputs.lines("weblog.ndjson") ?? Inputs.unpacked("weblog.ndjson.gz")
        ?? EventLine.load(0..<5000).split(separator: "\n").map(String.init)
      let few = Array(lines.prefix(3000))
      #expect(try broker.publish(lines: few).status == .exited(0))
      #expect(archiver.waitForCursor(few.count))
      let added: Set<String> = ["offset", "epoch", "receivedAt", "messageId"]
      let stored = try archiver.events()
      #expect(stored.count == few.count)
      let given = try few.map { try JSONValue(text: $0).without(added) }
      // Times are written canonically; they are compared by the published text's own fields.
      #expect(
        stored.map { $0.without(added.union(["timestamp", "originalTimestamp"])) }
          == given.map { $0.without(["timestamp", "originalTimestamp"]) })
      #expect(archiver.stop() == .exited(0))
    }

    @Test func `every seventh event sent twice is stored once, also after a restart`() throws {
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker)
      let lines = EventLine.load(0..<3000).split(separator: "\n").map(String.init)
      let doubled = lines.enumerated().flatMap {
        $0.offset % 7 == 0 ? [$0.element, $0.element] : [$0.element]
      }
      #expect(try broker.publish(lines: doubled).status == .exited(0))
      #expect(archiver.waitForCursor(doubled.count))
      #expect(archiver.stop() == .exited(0))
      try archiver.start()
      #expect(try broker.publish(lines: doubled).status == .exited(0))
      #expect(archiver.waitForCursor(doubled.count * 2))
      #expect(try archiver.messageIDs().count == 3000)
      #expect(try Set(archiver.messageIDs()).count == 3000)
      let ledger = try archiver.status()["ledger"]
      #expect(ledger?["applied"]?.int == 3000)
      #expect(ledger?["duplicate"]?.int == doubled.count * 2 - 3000)
      #expect(ledger?["balanced"] == .bool(true))
    }

    @Test func `doubles are told by name and id, and other content is listed`() throws {
      let lines =
        try Inputs.lines("A10.ndjson") ?? [
          EventLine.track("Bought", id: "000"), EventLine.track("Bought", id: "000"),
          EventLine.track("Bought", id: "000", properties: "{\"n\":1}"),
        ]
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker)
      #expect(try broker.publish(lines: lines).status == .exited(0))
      #expect(archiver.waitForCursor(lines.count))
      let bought = try archiver.events().names.filter { $0 == "Bought" }
      #expect(bought.count == (lines.count == 10 ? 6 : 1))
      #expect(try archiver.status()["doubles"]?["conflicts"]?.int == 1)
    }

    @Test
    func `killed again and again it stores every event once and starts without help`() throws {
      let count = CrashTests.isLong ? 1_000_000 : 60_000
      let kills = CrashTests.isLong ? 50 : 8
      let folder = try TemporaryFolder()
      let file = folder.file("load.ndjson")
      try EventLine.load(0..<count).write(toFile: file, atomically: true, encoding: .utf8)
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker, ["--roll-age", "20ms", "--roll-bytes", "64KiB"])
      let publisher = try ChildProcess(
        Program.path, ["publish", "--bus", broker.bus, "--timeout", "60s", file])
      var random = SeededRandom(seed: 11)
      for _ in 0..<kills {
        // At a random number of files more, wherever it then is between two steps.
        let goal = try files(archiver) + Int.random(in: 0..<6, using: &random)
        _ = try waitUntil(.seconds(5)) { try files(archiver) >= goal }
        archiver.kill()
        try archiver.startOnly()
      }
      archiver.kill()
      #expect(publisher.wait(.seconds(240)) == .exited(0), "\(publisher.errorOutput.text)")
      try archiver.start()
      #expect(archiver.waitForCursor(count, .seconds(180)))
      let ids = try archiver.messageIDs()
      #expect(ids.count == count)
      #expect(Set(ids).count == count)
      let ledger = try archiver.status()["ledger"]
      #expect(ledger?["applied"]?.int == count)
      #expect(ledger?["balanced"] == .bool(true))
      let query = try Program.run(
        ["archive", "query", "--dir", archiver.directory, "--count", "--format", "ndjson"])
      #expect(query.output.contains("\(count)"), "\(query.output)\(query.errors)")
    }

    private func files(_ archiver: TestArchiver) throws -> Int {
      try FileManager.default.subpathsOfDirectory(atPath: archiver.directory)
        .count { $0.hasSuffix(".zst") }
    }

    @Test func `an archiver that was away gets all of it once`() throws {
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker)
      #expect(
        try broker.publish(lines: [EventLine.track("Step", id: "first")]).status == .exited(0))
      #expect(archiver.waitForCursor(1))
      #expect(archiver.stop() == .exited(0))
      #expect(try broker.publish(input: EventLine.load(0..<20_000)).status == .exited(0))
      try archiver.start()
      #expect(archiver.waitForCursor(20_001))
      #expect(try archiver.messageIDs().count == 20_001)
    }

    @Test func `a second archiver is refused at once and told who has the directory`() throws {
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker)
      let second = try Program.run(
        ["archiver", "--bus", broker.bus, "--dir", archiver.directory, "--metrics", "127.0.0.1:0"],
        limit: .seconds(5))
      #expect(second.status == .exited(73))
      #expect(second.errors.contains("process \(archiver.process.id) on "), "\(second.errors)")
      #expect(second.errorLines.count == 1)
    }

    @Test func `a huge event among small ones is refused by its id, and these are archived`()
      throws
    {
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker)
      let collector = try TestCollector(broker)
      let blob = String(repeating: "b", count: 2_400_000)
      func lines(_ prefix: String) -> [String] {
        (0..<100).map {
          EventLine.track(
            "Step", id: "\(prefix)-\($0)", properties: $0 == 50 ? "{\"blob\":\"\(blob)\"}" : "{}")
        }
      }
      let answer = try collector.post(batch: lines("http"))
      #expect(answer.body.contains("\"messageId\":\"http-50\",\"code\":\"TOO_LARGE\""))
      let run = try broker.publish(lines: lines("line"))
      #expect(run.status == .exited(3))
      #expect(run.errors.contains("line 51: "))
      #expect(archiver.waitForCursor(198))
      let ids = Set(
        try archiver.lines().compactMap { try JSONValue(text: String($0))["messageId"]?.text })
      let expected = ["http", "line"].flatMap { prefix in
        (0..<100).filter { $0 != 50 }.map { "\(prefix)-\($0)" }
      }
      #expect(ids == Set(expected))
    }

    @Test func `names never become paths`() throws {
      let lines =
        try Inputs.lines("R06.ndjson")
        ?? ["../../x", "/etc/passwd", "a/b"].map {
          EventLine.track($0, id: $0)
        }
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker)
      let outside = try FileManager.default.contentsOfDirectory(atPath: broker.folder.path).sorted()
      // Longer names than the bus takes are refused before they get here.
      let given = try lines.map { try JSONValue(text: $0) }.names.filter { $0.utf8.count <= 200 }
      #expect(
        try broker.publish(lines: lines).status == .exited(given.count == lines.count ? 0 : 3))
      #expect(archiver.waitForCursor(given.count))
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: broker.folder.path).sorted() == outside)
      for path in try FileManager.default.subpathsOfDirectory(atPath: archiver.directory) {
        let isOurs =
          path.hasPrefix("date=") || path.hasPrefix("catalogue.sqlite") || path.hasPrefix("lock")
        #expect(isOurs, "\(path)")
      }
      let names = try archiver.events().names
      #expect(names == given)
    }

    @Test func `only the names that are asked for are stored, and the rest is counted`() throws {
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker, ["--events", "Kind 1*"])
      #expect(try broker.publish(input: EventLine.load(0..<1000)).status == .exited(0))
      #expect(archiver.waitForCursor(1000))
      let names = try archiver.events().names
      #expect(names.count == 550)
      #expect(names.allSatisfy { $0.hasPrefix("Kind 1") })
      let ledger = try archiver.status()["ledger"]
      #expect(ledger?["notMatched"]?.int == 450)
      #expect(ledger?["balanced"] == .bool(true))
    }
  }
}
