import DestinationTestSupport
import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// What publishers do when the way to a provider is bad, or its quota is used up.
  @Suite struct NetworkFaultTests {
    private func ids(_ count: Int) -> [String] { (0..<count).map(EventLine.loadID) }

    /// Publishes made events; returns when the provider has them all.
    private func deliver(
      _ count: Int, to fake: FakeServer<FakeSegment>, by url: String? = nil,
      _ options: [String] = []
    ) throws -> TestPublisher {
      let broker = try TestBroker()
      #expect(try broker.publish(input: EventLine.load(0..<count)).status == .exited(0))
      let publisher = try TestPublisher("segment", url ?? fake.url, broker, options)
      let isThere = waitUntil(.seconds(60)) { fake.ask { $0.stored.count } >= count }
      #expect(isThere, "\(publisher.errors)")
      #expect(publisher.stop() == .exited(0), "\(publisher.errors)")
      #expect(fake.ledger.ids == ids(count))
      return publisher
    }

    @Test func `after a failure of its own a destination is looked for anew`() throws {
      let fake = try FakeServer(
        FakeSegment(),
        script: try PublisherFaultTests.script("200 500 200"))
      let broker = try TestBroker()
      let publisher = try PublisherProcess(
        bus: broker.bus, data: broker.folder.file("data"), endpoint: fake.url)
      #expect(try broker.publish(input: EventLine.load(0..<10)).status == .exited(0))
      #expect(try publisher.isSettled(10))
      #expect(fake.connections == 1)
      for end in [20, 30] {
        #expect(try broker.publish(input: EventLine.load(end - 10..<end)).status == .exited(0))
        #expect(try publisher.isSettled(end))
        #expect(fake.connections == 2, "the failed request's connection, and the one after")
      }
      #expect(publisher.stop() == .exited(0))
    }

    @Test func `a connection that breaks while the body is sent costs nothing`() throws {
      let fake = try FakeServer(
        FakeSegment(), script: try PublisherFaultTests.script("cut cutreset cut 200"))
      _ = try deliver(2000, to: fake, ["--gzip-level", "0"])
      #expect(fake.ledger.doubles.isEmpty)
      #expect(fake.ledger.interrupted >= 3)
    }

    @Test func `answers that take now short, now long keep the order`() throws {
      let fake = try FakeServer(
        FakeSegment(), script: try PublisherFaultTests.script("latency=5,300"))
      _ = try deliver(3000, to: fake, ["--waiting-events", "500"])
      #expect(fake.ledger.doubles.isEmpty && fake.ledger.requests.count >= 6)
    }

    @Test func `with several requests at a time each user's events keep their order`() throws {
      let fake = try FakeServer(
        FakeSegment(), script: try PublisherFaultTests.script("latency=5,300"))
      let broker = try TestBroker()
      #expect(try broker.publish(input: EventLine.load(0..<3000)).status == .exited(0))
      let publisher = try TestPublisher(
        "segment", fake.url, broker, ["--waiting-events", "500", "--concurrency", "8"])
      let isThere = waitUntil { fake.ask { $0.stored.count } >= 3000 }
      #expect(isThere, "\(publisher.errors)")
      let ledger = fake.ledger
      #expect(ledger.doubles.isEmpty && fake.connections > 1)
      #expect(ledger.orderByUser.values.allSatisfy { $0 == $0.sorted() })
    }

    @Test func `a quota of the day is a pause, and what waited goes out when it is over`() throws {
      var provider = FakeSegment()
      provider.quota = FakeQuota(daily: 1000, retryAfter: 2)
      let fake = try FakeServer(provider)
      let broker = try TestBroker()
      #expect(try broker.publish(input: EventLine.load(0..<3000)).status == .exited(0))
      let publisher = try TestPublisher("segment", fake.url, broker, ["--waiting-events", "500"])
      let isTold = publisher.waitForError { $0.contains("daily quota exceeded") }
      #expect(isTold, "\(publisher.errors)")
      #expect(fake.ledger.ids == ids(1000))
      fake.change { $0.quota.daily = nil }
      let isThere = waitUntil { fake.ask { $0.stored.count } >= 3000 }
      #expect(isThere, "\(publisher.errors)")
      #expect(fake.ledger.ids == ids(3000) && fake.ledger.doubles.isEmpty)
    }

    @Test func `what a provider loses by a user's quota is listed by the pretended one`() throws {
      var provider = FakeGameAnalytics()
      provider.quota = FakeQuota(perUser: 2)
      let fake = try FakeServer(provider)
      let broker = try TestBroker()
      let lines = (0..<5).map { EventLine.track("Game Reset", id: "m\($0)", user: "u\($0 / 4)") }
      #expect(try broker.publish(lines: lines).status == .exited(0))
      let publisher = try TestPublisher("gameanalytics", fake.url, broker)
      let isThere = waitUntil { fake.ask { $0.stored.count + $0.silentDrops.count } >= 5 }
      #expect(isThere, "\(publisher.errors)")
      #expect(fake.ledger.stored.map(\.user) == ["u0", "u0", "u1"])
      #expect(fake.ledger.silentDrops.map(\.reason) == ["user's quota", "user's quota"])
    }

    @Test(
      .enabled(if: Certificate.canBeMade),
      arguments: [(days: 2, isTrusted: false), (days: -1, isTrusted: true)])
    func `behind a certificate that is not trusted, or has ended, events wait`(
      _ sample: (days: Int, isTrusted: Bool)
    ) throws {
      let fake = try FakeServer(FakeSegment())
      let front = try TLSFront(before: fake.port, days: sample.days)
      let broker = try TestBroker()
      #expect(try broker.publish(input: EventLine.load(0..<100)).status == .exited(0))
      let options = sample.isTrusted ? ["--ca-file", front.certificate] : []
      let publisher = try TestPublisher("segment", front.url, broker, options)
      let isTold = publisher.waitForError {
        $0.contains("its certificate is not trusted")
          && $0.contains(sample.isTrusted ? "expired" : "self")
      }
      #expect(isTold, "\(publisher.errors)")
      #expect(publisher.stop() == .exited(0))
      #expect(fake.ledger.requests.isEmpty)
    }

    @Test(.enabled(if: Certificate.canBeMade))
    func `behind a certificate that is trusted by its file they arrive`() throws {
      let fake = try FakeServer(FakeSegment())
      let front = try TLSFront(before: fake.port, days: 2)
      _ = try deliver(1000, to: fake, by: front.url, ["--ca-file", front.certificate])
    }

    @Test func `a handshake that hangs is given up, told, and tried again`() throws {
      let server = try SilentServer()
      let broker = try TestBroker()
      #expect(try broker.publish(input: EventLine.load(0..<100)).status == .exited(0))
      let publisher = try TestPublisher(
        "segment", "https://127.0.0.1:\(server.port)", broker)
      let isTold = publisher.waitForError { $0.contains("no connection within 10 s; next try in") }
      #expect(isTold, "\(publisher.errors)")
      #expect(publisher.stop() == .exited(0))
    }
  }
}
