import DestinationTestSupport
import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// File → bus → publisher → pretended provider, as processes.
  @Suite struct PublisherTests {
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
      let lines = Array(try Self.lines().prefix(5000))
      let fake = try FakeServer(FakeSegment(), script: [.delivery(.hang(milliseconds: 50))])
      let broker = try TestBroker()
      let published = try broker.publish(input: lines.joined(separator: "\n") + "\n")
      #expect(published.status == .exited(0), "\(published.errors)")
      // A few hundred events a request, so that there are moments in plenty.
      let segment = try TestPublisher("segment", fake.url, broker, ["--waiting-events", "400"])
      let kills = Kills(segment, fake, broker)
      try kills.play(5, until: lines.count)
      let ledger = fake.ledger
      #expect(ledger.ids == (try Self.ids(lines)), "the first time each came, in order")
      #expect(ledger.changed.isEmpty, "a repeat has the same body")
      #expect(ledger.silentDrops.isEmpty)
      #expect(try kills.unexplained(ledger).isEmpty)
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
