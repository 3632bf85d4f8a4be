import DestinationTestSupport
import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// What publishers do when a provider misbehaves.
  @Suite struct PublisherFaultTests {
    static func script(_ text: String) throws -> [FaultStep] {
      try #require(FaultStep.script(text))
    }

    /// Publishes made events and waits until so many are stored.
    private func deliver(
      _ count: Int, to fake: FakeServer<FakeSegment>, stored: Int? = nil, _ options: [String] = [],
      limit: Duration = .seconds(60)
    ) throws -> TestPublisher {
      let broker = try TestBroker()
      let published = try broker.publish(input: EventLine.load(0..<count))
      #expect(published.status == .exited(0), "\(published.errors)")
      let publisher = try TestPublisher("segment", fake.url, broker, options)
      let isThere = waitUntil(limit) { fake.ask { $0.stored.count } >= stored ?? count }
      #expect(isThere, "\(publisher.errors)")
      #expect(publisher.stop() == .exited(0), "\(publisher.errors)")
      return publisher
    }

    private func ids(_ count: Int) -> [String] { (0..<count).map(EventLine.loadID) }

    @Test(arguments: ["429=2 429=2 200", "503=2 429date=3 200"])
    func `a wait that is asked for is kept, and everything arrives once in order`(
      _ steps: String
    ) throws {
      let fake = try FakeServer(FakeSegment(), script: try Self.script(steps))
      _ = try deliver(500, to: fake)
      let ledger = fake.ledger
      #expect(ledger.ids == ids(500) && ledger.doubles.isEmpty)
      let times = ledger.requests.map(\.time)
      #expect(times.count == 3)
      for (earlier, later) in zip(times, times.dropFirst()) {
        // A date has no fractions of a second.
        #expect(later - earlier >= 1_990_000_000, "\((later - earlier) / 1_000_000) ms")
      }
    }

    @Test func `a proxy's page is a failure that is told in one line`() throws {
      let fake = try FakeServer(FakeSegment(), script: try Self.script("500html 200html 200"))
      let publisher = try deliver(100, to: fake)
      #expect(fake.ledger.ids == ids(100))
      #expect(fake.ledger.requests.count == 3)
      #expect(publisher.errors.contains("HTTP 500"), "\(publisher.errors)")
      #expect(publisher.errors.contains("Bad Gateway"))
      #expect(!publisher.errors.contains("<html>"))
    }

    @Test func `a success whose body is not the gzip that it says is sent once, and told once`()
      throws
    {
      let fake = try FakeServer(FakeSegment(), script: try Self.script("notzipped"))
      let publisher = try deliver(6000, to: fake)
      #expect(fake.ledger.ids == ids(6000) && fake.ledger.doubles.isEmpty)
      #expect(fake.ledger.requests.count > 1)
      let told = publisher.errors.split(separator: "\n").filter { $0.contains("not compressed") }
      #expect(told.count == 1 && told.allSatisfy { $0.contains("HTTP 200") }, "\(publisher.errors)")
    }

    @Test func `a success that always breaks off is not sent without end`() throws {
      let fake = try FakeServer(FakeSegment(), script: try Self.script("half"))
      let broker = try TestBroker()
      #expect(try broker.publish(input: EventLine.load(0..<10)).status == .exited(0))
      let publisher = try TestPublisher("segment", fake.url, broker)
      let isTold = publisher.waitForError { $0.contains("count as delivered, and as unproven") }
      #expect(isTold, "\(publisher.errors)")
      #expect(publisher.stop() == .exited(0), "\(publisher.errors)")
      #expect(fake.ledger.ids == ids(10) && fake.ledger.requests.count == 3)
    }

    @Test func `one bad event is set aside and holds up nobody`() throws {
      let fake = try FakeServer(FakeSegment(), script: try Self.script("400one=LOAD-000050"))
      _ = try deliver(100, to: fake, stored: 99)
      let ledger = fake.ledger
      #expect(ledger.ids == ids(100).filter { $0 != "LOAD-000050" })
      #expect(ledger.doubles.isEmpty)
      #expect(ledger.requests.count <= 20)
    }

    @Test func `requests are halved until the provider takes them`() throws {
      let fake = try FakeServer(FakeSegment(), script: try Self.script("413over=20000"))
      _ = try deliver(2000, to: fake, ["--gzip-level", "0"])
      let ledger = fake.ledger
      #expect(ledger.ids == ids(2000) && ledger.doubles.isEmpty)
    }

    @Test func `after lost answers the same events come again with the same bodies`() throws {
      let fake = try FakeServer(FakeSegment(), script: try Self.script("reset resetmid close 200"))
      let broker = try TestBroker()
      #expect(try broker.publish(input: EventLine.load(0..<300)).status == .exited(0))
      let publisher = try TestPublisher("segment", fake.url, broker)
      // All but the last are stored and not answered.
      let isThere = waitUntil { fake.ask { $0.doubles.count } >= 900 }
      #expect(isThere, "\(publisher.errors)")
      #expect(publisher.stop() == .exited(0), "\(publisher.errors)")
      let ledger = fake.ledger
      #expect(ledger.ids == ids(300) && ledger.changed.isEmpty)
      #expect(ledger.doubles.count == 900)
    }

    @Test func `tries differ in sentAt alone, for every type of event`() throws {
      let fake = try FakeServer(FakeSegment(), script: try Self.script("500html 500html 200"))
      let broker = try TestBroker()
      let lines = [
        #"{"type":"track","event":"E","userId":"u","properties":{"a":1.0}}"#,
        #"{"type":"identify","userId":"u","traits":{"plan":"pro"}}"#,
        #"{"type":"page","userId":"u","name":"Home"}"#,
        #"{"type":"screen","anonymousId":"a","name":"Home"}"#,
        #"{"type":"group","userId":"u","groupId":"g"}"#,
        #"{"type":"alias","userId":"u","previousId":"a"}"#,
      ]
      #expect(try broker.publish(lines: lines).status == .exited(0))
      let publisher = try TestPublisher("segment", fake.url, broker)
      let isThere = waitUntil { fake.ask { $0.stored.count } >= 6 }
      #expect(isThere, "\(publisher.errors)")
      let bodies = fake.ledger.requests.map { JSONPiece($0.body[...]) }
      #expect(bodies.count == 3)
      #expect(Set(bodies.map { $0["batch"]?.text }).count == 1)
      #expect(Set(bodies.map { $0["sentAt"]?.text }).count == 3)
      #expect(
        fake.ledger.stored.compactMap { $0.event["type"]?.string }
          == ["track", "identify", "page", "screen", "group", "alias"])
    }

    @Test func `a dead key keeps every event, and a new one sends them all`() throws {
      let fake = try FakeServer(FakeSegment(), script: [.status(401)])
      let broker = try TestBroker()
      #expect(try broker.publish(input: EventLine.load(0..<5000)).status == .exited(0))
      let publisher = try TestPublisher("segment", fake.url, broker)
      let isTold = publisher.waitForError { $0.contains("401") }
      #expect(isTold, "\(publisher.errors)")
      #expect(publisher.stop() == .exited(0))
      #expect(fake.ledger.requests.count <= 2)
      fake.play([.serve])
      try publisher.start()
      let isThere = waitUntil { fake.ask { $0.stored.count } >= 5000 }
      #expect(isThere, "\(publisher.errors)")
      #expect(fake.ledger.ids == ids(5000))
    }

    @Test func `a host that is not there is named, and nothing is lost meanwhile`() throws {
      let broker = try TestBroker()
      #expect(try broker.publish(input: EventLine.load(0..<1000)).status == .exited(0))
      let lost = try TestPublisher("segment", "http://no-such-host.invalid", broker)
      let isTold = lost.waitForError { $0.contains("no-such-host.invalid") }
      #expect(isTold, "\(lost.errors)")
      #expect(lost.stop() == .exited(0))
      let fake = try FakeServer(FakeSegment())
      let found = try TestPublisher("segment", fake.url, broker)
      let isThere = waitUntil { fake.ask { $0.stored.count } >= 1000 }
      #expect(isThere, "\(found.errors)")
      #expect(fake.ledger.ids == ids(1000))
    }

    @Test func `ended in the middle of an answer, time after time, it loses nothing`() throws {
      let fake = try FakeServer(
        FakeSegment(), script: [.delivery(.slow(milliseconds: 200))])
      let broker = try TestBroker()
      #expect(try broker.publish(input: EventLine.load(0..<1000)).status == .exited(0))
      let publisher = try TestPublisher("segment", fake.url, broker, ["--waiting-events", "100"])
      for goal in stride(from: 100, through: 800, by: 100) {
        let reached = waitUntil { fake.ask { $0.stored.count } >= goal }
        #expect(reached, "\(publisher.errors)")
        #expect(publisher.stop() == .exited(0), "\(publisher.errors)")
        try publisher.start()
      }
      let isThere = waitUntil { fake.ask { $0.stored.count } >= 1000 }
      #expect(isThere, "\(publisher.errors)")
      #expect(fake.ledger.ids == ids(1000) && fake.ledger.changed.isEmpty)
    }
  }

  /// The other providers, as processes.
  @Suite struct OtherPublisherTests {
    @Test func `Mixpanel gets events of 2006, of now and of ten minutes ahead`() throws {
      let fake = try FakeServer(
        FakeMixpanel(), script: try PublisherFaultTests.script("502html reset 200"))
      let broker = try TestBroker()
      let now = Timestamp.now()
      let times = [
        "2006-01-02T03:04:05.000Z", now.text,
        Timestamp(nanoseconds: now.nanoseconds + 600_000_000_000).text,
      ]
      let lines = times.map {
        #"{"type":"track","event":"E","userId":"u","messageId":"id / \#($0)","timestamp":"\#($0)"}"#
      }
      #expect(try broker.publish(lines: lines).status == .exited(0))
      let publisher = try TestPublisher("mixpanel", fake.url, broker)
      let isThere = waitUntil { fake.ask { $0.doubles.count } >= 3 }
      #expect(isThere, "\(publisher.errors)")
      let ledger = fake.ledger
      #expect(ledger.stored.count == 3 && ledger.refused.isEmpty && ledger.changed.isEmpty)
      // Milliseconds.
      #expect(ledger.stored.map { $0.time?.text.prefix(23) } == times.map { $0.prefix(23) })
    }

    @Test func `GameAnalytics is asked first, and what it refuses is set aside`() throws {
      let fake = try FakeServer(FakeGameAnalytics())
      let broker = try TestBroker()
      let lines = [
        EventLine.track("Game Ended", id: "m1", properties: #"{"value":21}"#),
        EventLine.track("a/b", id: "m2"), EventLine.track("Game Reset", id: "m3"),
      ]
      #expect(try broker.publish(lines: lines).status == .exited(0))
      let publisher = try TestPublisher("gameanalytics", fake.url, broker)
      let isThere = waitUntil { fake.ask { $0.stored.count } >= 2 }
      #expect(isThere, "\(publisher.errors)")
      let ledger = fake.ledger
      #expect(ledger.ids == ["game:ended", "game:reset"] && ledger.refused.isEmpty)
      #expect(ledger.requests.first?.path.hasSuffix("/init") == true)
      #expect(ledger.requests.count { $0.path.hasSuffix("/init") } == 1)
      #expect(ledger.stored.first?.event["value"]?.text == "21")
    }

    @Test(arguments: [
      (
        ["segment", "--write-key", "k", "--endpoint", "ftp://h"],
        "--endpoint: \"ftp://h\" is no address"
      ),
      (
        ["segment", "--endpoint", "http://h"],
        "segment needs --write-key-file FILE, EVENTBUS_WRITE_KEY"
      ),
      (["segment", "--write-key", "k", "--region", "mars"], "--region"),
      (["mixpanel", "--username", "u", "--project-id", "x"], "--project-id must be a number"),
      (["mixpanel"], "mixpanel needs --username"),
      (
        ["gameanalytics", "--game-key", "a/b", "--secret-key", "s"],
        "--game-key: a game key has letters"
      ),
      (
        ["gameanalytics", "--game-key", "a", "--secret-key", "s", "--platform", "amiga"],
        "--platform must be one of"
      ),
      (["webhook"], "webhook needs --endpoint URL"),
      (["webhook", "--endpoint", "http://u:hush@h"], "use the options for credentials"),
      (
        ["webhook", "--endpoint", "http://h", "--header", "Host: x"],
        "--header: Host is set by the publisher"
      ),
    ])
    func `a command line that cannot be followed is refused at once`(
      _ sample: (words: [String], message: String)
    ) throws {
      let folder = try TemporaryFolder()
      let run = try Program.run(sample.words + ["--data", folder.file("data")])
      #expect(run.status == .exited(2), "\(run.errors)")
      #expect(run.errorLines.count == 1 && run.errors.contains(sample.message), "\(run.errors)")
      #expect(!run.errors.contains("hush"))
    }

    @Test func `a mapping file is checked at the start and named with the place`() throws {
      let folder = try TemporaryFolder()
      let file = folder.file("map.json")
      try #"{"segment":{"renam":{}}}"#.write(toFile: file, atomically: true, encoding: .utf8)
      let run = try Program.run(
        ["segment", "--write-key", "k", "--mapping", file, "--data", folder.file("data")])
      #expect(run.status == .exited(2))
      #expect(
        run.errors.contains(
          "--mapping \(file): segment.renam: no such word; did you mean \"rename\"?"),
        "\(run.errors)")
    }
  }
}
