import DestinationTestSupport
import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// `archive replay`: from the files to one named subscriber.
  @Suite struct ReplayTests {
    /// Old events, a few a year, with whole numbers that no double holds.
    private static let history: [String] = [(2006, 33), (2007, 838), (2008, 24), (2009, 105)]
      .flatMap { year, count in
        (0..<count).map { number in
          "{\"type\":\"track\",\"event\":\"Old \(number % 3)\",\"messageId\":\"D-\(year)-\(number)\","
            + "\"userId\":\"u\(number % 10)\","
            + "\"timestamp\":\"\(year)-0\(number % 9 + 1)-03T04:05:06.\(100 + number % 900)Z\","
            + "\"properties\":{\"id\":\(UInt64.max - UInt64(number)),\"n\":-9007199254740993,"
            + "\"x\":1.0,\"on\":true}}"
        }
      }

    private static func archive(_ broker: TestBroker) throws -> TestArchiver {
      let archiver = try TestArchiver(broker)
      #expect(try broker.publish(lines: history).status == .exited(0))
      #expect(archiver.waitForCursor(history.count))
      return archiver
    }

    /// The text of a line up to what the bus has added.
    private static func own(_ line: String) -> String {
      var line = line
      for field in [#","receivedAt":"[^"]*""#, #","offset":[0-9]+"#] {
        line = line.replacingOccurrences(of: field, with: "", options: .regularExpression)
      }
      return line
    }

    @Test func `history keeps its times and digits, and only the addressee sees it`() throws {
      let broker = try TestBroker()
      let archiver = try Self.archive(broker)
      let years = try (2006...2009).map {
        try archiver.count(["--from", "\($0)-01-01", "--to", "\($0 + 1)-01-01"])
      }
      #expect(years == [33, 838, 24, 105])
      for name in ["sink", "other"] { try broker.subscribe(name) }
      let tail = try broker.tail()
      let run = try archiver.run("replay", broker, ["--to", "sink", "--json"])
      #expect(run.status == .exited(0), "\(run.errors)")
      #expect(try run.summary("acknowledged") == 1000)
      // What it remembers of itself is the archive's own.
      let memory = broker.folder.file("archive/replays")
      #expect(try FileManager.default.contentsOfDirectory(atPath: memory).count == 1)
      let doctor = try Program.run([
        "doctor", "--bus", broker.bus, "--data", broker.folder.file("data"), "--dir",
        broker.folder.file("archive"), "--port-base", "0",
      ])
      #expect(doctor.output.contains("ok   archive "), "\(doctor.output)")
      let replayed = try broker.read("sink")
      #expect(replayed.map(Self.own) == Self.history)
      #expect(replayed.allSatisfy { $0.contains("\"receivedAt\":\"20") })
      // Nobody else: not a subscriber with a name, not a reader without one.
      #expect(try broker.publish(["--event", "Last"]).status == .exited(0))
      #expect(try broker.read("other").count == 1)
      #expect(try broker.stored().count == 1001)
      let line = try #require(tail.output.waitForLine { _ in true })
      #expect(line.contains("\"Last\""))
      // The archiver is not addressed either, and accounts for what passed it by.
      #expect(archiver.waitForCursor(2001))
      #expect(try archiver.count() == 1001)
      #expect(try archiver.status()["ledger"]?["balanced"] == .bool(true))
    }

    @Test func `Segment gets history with its own times and digits, sent now`() throws {
      let fake = try FakeServer(FakeSegment())
      let broker = try TestBroker()
      let archiver = try Self.archive(broker)
      let publisher = try PublisherProcess(
        bus: broker.bus, data: broker.folder.file("data"), endpoint: fake.url,
        ["--start", "latest"])
      let start = Timestamp.now()
      let run = try archiver.run("replay", broker, ["--to", "segment", "--json"])
      #expect(try run.summary("acknowledged") == 1000, "\(run.errors)")
      #expect(waitUntil(.seconds(60)) { fake.ledger.stored.count >= 1000 })
      let ledger = fake.ledger
      #expect(ledger.refused.isEmpty && ledger.doubles.isEmpty && ledger.silentDrops.isEmpty)
      let texts = ledger.stored.map { receipt in
        let properties = receipt.event["properties"]?.fields ?? [:]
        return [
          receipt.id, receipt.event["timestamp"]?.text, properties["id"]?.text,
          properties["n"]?.text, properties["x"]?.text, properties["on"]?.text,
        ]
      }
      let expected = Self.history.map { line in
        let fields = JSONPiece(Array(line.utf8)[...]).fields
        let properties = fields["properties"]?.fields ?? [:]
        return [
          fields["messageId"]?.string, fields["timestamp"]?.text, properties["id"]?.text,
          properties["n"]?.text, properties["x"]?.text, properties["on"]?.text,
        ]
      }
      #expect(texts == expected)
      for request in ledger.requests {
        let body = JSONPiece(request.body[...])
        let sent = body["sentAt"]?.string.flatMap { Timestamp(text: $0) }
        #expect(sent.map { $0.nanoseconds > start.nanoseconds - 1_000_000_000 } == true)
      }
      #expect(publisher.stop() == .exited(0))
    }

    @Test func `whole numbers above 2^53 keep their digits`() throws {
      let lines = try Inputs.lines("V01.ndjson") ?? Self.history
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker)
      _ = try broker.publish(lines: lines)
      #expect(archiver.waitForCursor(try broker.head()))
      try broker.subscribe("sink")
      #expect(try archiver.run("replay", broker, ["--to", "sink"]).status == .exited(0))
      let published = try Program.run([
        "tail", "--bus", broker.bus, "--since", "earliest", "--until-end", "--format", "ndjson",
      ]).lines
      #expect(try broker.read("sink").map(Self.own) == published.map(Self.own))
      #expect(!published.isEmpty)
    }

    @Test func `stopped, killed and repeated it sends each event once`() throws {
      let broker = try TestBroker()
      let archiver = try Self.archive(broker)
      try broker.subscribe("sink")
      let arguments = [
        "archive", "replay", "--dir", archiver.directory, "--bus", broker.bus, "--to", "sink",
        "--rate", "100",
      ]
      // Of ten seconds, so that it is under way when it is stopped, however slow this machine is.
      for (number, signal) in [SIGINT, SIGKILL].enumerated() {
        let start = try broker.head()
        let child = try ChildProcess(Program.path, arguments)
        #expect(waitUntil { (try? broker.head()) ?? 0 >= start + 20 })
        child.signal(signal)
        #expect(child.wait() == (number == 0 ? .exited(130) : .signalled(SIGKILL)))
      }
      let last = try archiver.run("replay", broker, ["--to", "sink", "--rate", "1M", "--json"])
      #expect(last.status == .exited(0), "\(last.errors)")
      #expect(try JSONValue(text: last.output)["complete"] == .bool(true))
      // What the first run sent before it was asked to end is not sent again.
      #expect(try last.summary("published") ?? 0 <= 980)
      #expect(try broker.read("sink").map(Self.own) == Self.history)
      // Done is done, until it is asked for once more.
      let repeated = try archiver.run("replay", broker, ["--to", "sink", "--json"])
      #expect(try repeated.summary("published") == 0)
      #expect(try broker.read("sink").isEmpty)
      // Both are counted before: what is left, and what would be sent once more.
      let left = try archiver.run("replay", broker, ["--to", "sink", "--dry-run"])
      #expect(left.errors.hasPrefix("0 events would be sent; "), "\(left.errors)")
      #expect(left.errors.contains("--again"))
      let whole = try archiver.run(
        "replay", broker, ["--to", "sink", "--again", "--dry-run", "--json"])
      #expect(try whole.summary("published") == 1000, "\(whole.errors)")
      let again = try archiver.run("replay", broker, ["--to", "sink", "--again", "--json"])
      #expect(try again.summary("acknowledged") == 1000)
      #expect(try broker.read("sink").map(Self.own) == Self.history)
    }

    @Test func `what is wanted is counted before it is sent`() throws {
      let broker = try TestBroker()
      let archiver = try Self.archive(broker)
      try broker.subscribe("sink")
      let wanted = [
        "--to", "sink", "--event", "Old *", "--from", "2007-01-01", "--until", "2008-01-01",
        "--user", "u3", "--where", "properties.on=true", "--json",
      ]
      let head = try broker.head()
      let dry = try archiver.run("replay", broker, wanted + ["--dry-run"])
      #expect(dry.status == .exited(0), "\(dry.errors)")
      let count = Self.history.filter { $0.contains("D-2007-") && $0.contains("\"u3\"") }.count
      #expect(try dry.summary("published") == count)
      let names = try #require(try JSONValue(text: dry.output)["names"])
      #expect((0..<3).compactMap { names["Old \($0)"]?.int }.reduce(0, +) == count)
      #expect(try broker.head() == head)
      #expect(try archiver.run("replay", broker, wanted).summary("acknowledged") == count)
      #expect(try broker.read("sink").count == count)
    }

    @Test func `what cannot be meant is refused`() throws {
      let broker = try TestBroker()
      let archiver = try Self.archive(broker)
      try broker.subscribe("sink")
      for more in [[], ["--dry-run"]] {
        let wrong = try archiver.run("replay", broker, ["--to", "snik"] + more)
        #expect(wrong.status == .exited(1))
        #expect(wrong.errors.contains("'snik'") && wrong.errors.contains("sink"), "\(wrong.errors)")
      }
      #expect(try broker.head() == Self.history.count)
      let named = try archiver.run("replay", broker, ["--to", "snik", "--any-name"])
      #expect(named.status == .exited(0), "\(named.errors)")
      for arguments in [
        ["--to", ""], ["--to", "sink,"],
        ["--to", "sink", "--from", "2009-01-01", "--until", "2008-01-01"],
        [],
      ] {
        #expect(try archiver.run("replay", broker, arguments).status == .exited(2), "\(arguments)")
      }
      let away = try Program.run([
        "archive", "replay", "--dir", archiver.directory, "--bus", "tcp://127.0.0.1:9",
        "--to", "sink", "--timeout", "1s",
      ])
      #expect(away.status == .exited(69), "\(away.errors)")
      let counted = try Program.run([
        "archive", "replay", "--dir", archiver.directory, "--bus", "tcp://127.0.0.1:9",
        "--to", "sink", "--dry-run", "--any-name",
      ])
      #expect(counted.status == .exited(0), "\(counted.errors)")
      let none = try Program.run([
        "archive", "replay", "--dir", broker.folder.file("none"), "--to", "sink", "--dry-run",
      ])
      #expect(none.status == .exited(1))
    }
  }
}
