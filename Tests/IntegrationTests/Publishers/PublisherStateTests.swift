import DestinationTestSupport
import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// What can be seen of a publisher, where its events are while nothing gets through, and who starts it.
  @Suite struct PublisherStateTests {
    @Test func `no request is larger than the provider takes`() throws {
      let fake = try FakeServer(FakeSegment())
      let broker = try TestBroker()
      let publisher = try PublisherProcess(
        bus: broker.bus, data: broker.folder.file("data"), endpoint: fake.url)
      let filler = String(repeating: "x", count: 6000)
      let lines = (0..<400).map {
        EventLine.track("Big", id: "big-\($0)", properties: "{\"filler\":\"\(filler)\"}")
      }
      #expect(try broker.publish(lines: lines).status == .exited(0))
      #expect(try publisher.isSettled(400))
      #expect(fake.ledger.ids.count == 400)
      #expect(fake.ledger.requests.allSatisfy { $0.body.count <= 500_000 })
      #expect(fake.ledger.silentDrops.isEmpty)
    }

    @Test func `a wrong key is a state that a person sees, and asks rarely`() throws {
      let fake = try FakeServer(FakeSegment(), script: [.status(401)])
      let broker = try TestBroker()
      let publisher = try PublisherProcess(
        bus: broker.bus, data: broker.folder.file("data"), endpoint: fake.url)
      #expect(try broker.publish(input: EventLine.load(0..<100)).status == .exited(0))
      #expect(try waitUntil { try publisher.state() == "configuration-error" })
      let status = try publisher.status()
      #expect(status["reason"]?.text?.contains("HTTP 401") == true)
      #expect(status["oldestWaiting"]?.text != nil)
      #expect(
        try publisher.get("/metrics").contains(
          "eventbus_destination_state{destination=\"segment\",state=\"configuration-error\"} 1"))
      #expect(!publisher.log.contains("test-key"))
      #expect(fake.ask { $0.requests.count } == 1)
      let listed = try Program.run([
        "status", "--json", "--bus", broker.bus, "--data", publisher.data,
      ])
      guard case .list(let destinations)? = try JSONValue(text: listed.output)["destinations"]
      else {
        Issue.record("\(listed.output)")
        return
      }
      #expect(destinations.map { $0["state"]?.text } == ["configuration-error"])
      #expect(destinations.map { $0["running"] } == [.bool(true)])
    }

    @Test func `a destination that was away gets everything afterwards, in order`() throws {
      let broker = try TestBroker()
      let gone = try FakeServer(FakeSegment())
      let port = gone.port
      gone.stop()
      let publisher = try PublisherProcess(
        bus: broker.bus, data: broker.folder.file("data"), endpoint: "http://127.0.0.1:\(port)")
      #expect(try broker.publish(input: EventLine.load(0..<5000)).status == .exited(0))
      #expect(try waitUntil { try publisher.state() == "backing-off" })
      #expect(publisher.stop() == .exited(0))
      try publisher.start()
      #expect(try broker.publish(input: EventLine.load(5000..<10_000)).status == .exited(0))
      #expect(try waitUntil { try publisher.state() == "backing-off" })
      let fake = try FakeServer(FakeSegment(), port: port)
      #expect(try publisher.isSettled(10_000, .seconds(60)))
      #expect(fake.ledger.ids == (0..<10_000).map { EventLine.loadID($0) })
      #expect(fake.ledger.doubles.isEmpty)
    }

    @Test func `a second publisher of the same name is told who has its folder`() throws {
      let fake = try FakeServer(FakeSegment())
      let broker = try TestBroker()
      let data = broker.folder.file("data")
      let publisher = try PublisherProcess(bus: broker.bus, data: data, endpoint: fake.url)
      let second = try PublisherProcess(
        bus: broker.bus, data: data, endpoint: fake.url, wait: false)
      #expect(second.process.wait() == .exited(73))
      let holder = "process \(publisher.process.id)"
      #expect(second.process.errorOutput.waitForLine { $0.contains(holder) } != nil)
    }

    @Test func `a webhook's success that refuses one event sets that one aside`() throws {
      let fake = try FakeServer(CountingProvider(), script: [.errorsWithin])
      let broker = try TestBroker()
      let publisher = try PublisherProcess(
        "webhook", bus: broker.bus, data: broker.folder.file("data"), endpoint: fake.url,
        environment: [:])
      #expect(try broker.publish(input: EventLine.load(0..<20)).status == .exited(0))
      #expect(try publisher.isSettled(20))
      let letters = try publisher.letters(destination: "webhook")
      #expect(letters.map { $0["event"]?["messageId"]?.text } == [EventLine.loadID(0)])
      #expect(try publisher.status()["ledger"]?["applied"]?.int == 19)
    }

    /// Takes everything.
    private struct CountingProvider: FakeProvider {
      func answer(
        _ request: StubRequest, at now: Timestamp, _ ledger: inout FakeLedger
      ) -> (answer: StubAnswer, events: Int) {
        (StubAnswer(200), JSONPiece(request.body[...]).elements.count)
      }
    }

    @Test func `up starts the publisher whose key is in its environment`() throws {
      let fake = try FakeServer(FakeSegment(writeKey: "own-key"))
      let folder = try TemporaryFolder()
      let base = try FreePorts.base()
      let up = try ChildProcess(
        Program.path, ["up", "--data", folder.file("data"), "--port-base", "\(base)"],
        environment: [
          "EVENTBUS_SEGMENT_WRITE_KEY": "own-key", "EVENTBUS_SEGMENT_ENDPOINT": fake.url,
        ])
      let ready = up.output.waitForLine(.seconds(60)) { $0.hasPrefix("ready broker.bus=") }
      try #require(ready != nil, "\(up.errorOutput.text)")
      let published = try Program.run([
        "publish", "--bus", "tcp://127.0.0.1:\(base)", "--event", "Up", "--user", "u",
      ])
      #expect(published.status == .exited(0))
      #expect(waitUntil { fake.ask { $0.stored.count } == 1 }, "\(up.errorOutput.text)")
      up.signal(SIGTERM)
      #expect(up.wait() == .exited(0), "\(up.errorOutput.text)")
    }
  }
}
