import DestinationTestSupport
import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// File → bus → publisher → pretended provider, as processes.
  @Suite(.timeLimit(.minutes(10))) struct PublisherTests {
    /// `EVENTBUS_LONG=1` for a run of minutes.
    static let kills = ProcessInfo.processInfo.environment["EVENTBUS_LONG"] == "1" ? 20 : 5

    /// Ten thousand lines: those of a real web log where they are there, else made ones.
    static func lines() throws -> [String] {
      guard let path = Inputs.path("weblog.ndjson.gz") else {
        return EventLine.load(0..<10_000).split(separator: "\n").map(String.init)
      }
      let unpacked = try ChildProcess.run("gzip", ["-dc", path], limit: .seconds(60))
      try #require(unpacked.status == .exited(0))
      return String(decoding: unpacked.output, as: UTF8.self).split(separator: "\n").map(
        String.init)
    }

    static func ids(_ lines: [String]) throws -> [String] {
      try lines.map { line in
        let start = try #require(line.firstRange(of: "\"messageId\":\"")).upperBound
        return String(line[start...].prefix { $0 != "\"" })
      }
    }

    @Test func `every event reaches Segment once, in order and undisturbed`() throws {
      let lines = try Self.lines()
      let fake = try FakeServer(FakeSegment())
      let broker = try TestBroker()
      let publisher = try TestPublisher("segment", fake.url, broker)
      let published = try broker.publish(input: lines.joined(separator: "\n") + "\n")
      #expect(published.status == .exited(0), "\(published.errors)")
      let isThere = waitUntil(.seconds(60)) { fake.ask { $0.stored.count } >= lines.count }
      #expect(isThere, "\(publisher.errors)")
      #expect(publisher.stop() == .exited(0), "\(publisher.errors)")
      let ledger = fake.ledger
      #expect(ledger.ids == (try Self.ids(lines)))
      #expect(ledger.doubles.isEmpty && ledger.silentDrops.isEmpty)
      #expect(ledger.requests.allSatisfy { $0.wireBody.count <= 500_000 })
      // Reading all of them with Foundation would take half a minute.
      for (index, (receipt, line)) in zip(ledger.stored, lines).enumerated()
      where index % 20 == 0 {
        let (given, sent) = (try JSONValue(text: line), try JSONValue(text: receipt.event.text))
        guard given == sent else {
          Issue.record("\(line) became \(receipt.event.text)")
          return
        }
      }
    }

    @Test
    func `a publisher killed again and again loses nothing and repeats only what was under way`()
      throws
    {
      let lines = Array(try Self.lines().prefix(Self.kills * 1000))
      let fake = try FakeServer(FakeSegment(), script: [.delivery(.hang(milliseconds: 50))])
      let broker = try TestBroker()
      let published = try broker.publish(input: lines.joined(separator: "\n") + "\n")
      #expect(published.status == .exited(0), "\(published.errors)")
      // A few hundred events a request, so that there are moments in plenty.
      let segment = try TestPublisher("segment", fake.url, broker, ["--waiting-events", "400"])
      for kill in 1...Self.kills {
        let goal = lines.count * kill / (Self.kills + 1)
        let reached = waitUntil(.seconds(60)) { fake.ask { $0.stored.count } >= goal }
        #expect(reached, "kill \(kill): \(segment.errors)")
        segment.kill()
        try segment.start()
      }
      let isThere = waitUntil(.seconds(60)) { fake.ask { $0.stored.count } >= lines.count }
      #expect(isThere, "\(segment.errors)")
      #expect(segment.stop() == .exited(0), "\(segment.errors)")
      let ledger = fake.ledger
      #expect(ledger.ids == (try Self.ids(lines)), "the first time each came, in order")
      #expect(ledger.changed.isEmpty, "a repeat has the same body")
      #expect(ledger.silentDrops.isEmpty)
      // One request is under way at a time, and one may be answered and not yet written down.
      #expect(ledger.doubles.count <= Self.kills * 2 * 2500, "\(ledger.doubles.count)")
    }

    @Test func `numbers arrive at Segment with their digits`() throws {
      let numbers = [
        "9007199254740993", "18446744073709551615", "-9223372036854775808", "1", "1.0", "-0.0",
        "1e-07", "true", "\"1\"", "null",
      ]
      let lines = numbers.enumerated().map {
        EventLine.track("Big", id: "m\($0)", properties: "{\"id\":\($1)}")
      }
      let fake = try FakeServer(FakeSegment())
      let broker = try TestBroker()
      _ = try broker.publish(lines: lines)
      let publisher = try TestPublisher("segment", fake.url, broker)
      let isThere = waitUntil { fake.ask { $0.stored.count } >= lines.count }
      #expect(isThere, "\(publisher.errors)")
      let properties = fake.ledger.stored.compactMap { $0.event["properties"]?["id"]?.text }
      #expect(properties == numbers)
    }
  }
}

/// A publisher process with a folder of its own. It is killed when the object goes.
final class TestPublisher {
  private let folder: TemporaryFolder
  private let arguments: [String]
  private var process: ChildProcess

  init(_ name: String, _ url: String, _ broker: TestBroker, _ options: [String] = []) throws {
    folder = try TemporaryFolder()
    arguments =
      [
        name, "--bus", broker.bus, "--data", folder.file("data"), "--endpoint", url, "--metrics",
        "127.0.0.1:0",
      ] + options
    process = try ChildProcess(Program.path, arguments, environment: Self.credentials)
    try waitUntilReady()
  }

  /// What the pretended providers ask for.
  private static let credentials = [
    "EVENTBUS_WRITE_KEY": "test-key", "EVENTBUS_USERNAME": "user", "EVENTBUS_SECRET": "secret",
    "EVENTBUS_PROJECT_ID": "1", "EVENTBUS_GAME_KEY": "5c6bcb5402204249437fb5a7a80a4959",
    "EVENTBUS_SECRET_KEY": "16813a12f718bc5c620f56944e1abc3ea13ccbac",
  ]

  var errors: String { process.errorOutput.text }

  /// Whether it says such a thing on standard error, now or in time.
  func waitForError(_ matches: (String) -> Bool) -> Bool {
    process.errorOutput.waitForLine(where: matches) != nil
  }

  func start() throws {
    process = try ChildProcess(Program.path, arguments, environment: Self.credentials)
    try waitUntilReady()
  }

  func kill() {
    process.signal(SIGKILL)
    process.wait()
  }

  func stop() -> ChildProcess.Status {
    process.signal(SIGTERM)
    return process.wait()
  }

  private func waitUntilReady() throws {
    let line = process.output.waitForLine { $0.hasPrefix("ready ") }
    try #require(line != nil, "\(process.errorOutput.text)")
  }
}
