import DestinationTestSupport
import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// What a publisher makes of a destination's answers.
  @Suite struct PublisherAnswerTests {
    private func script(_ text: String) throws -> [FaultStep] {
      try #require(FaultStep.script(text))
    }

    @Test func `429 with Retry-After is obeyed, and everything arrives once and in order`() throws {
      let fake = try FakeServer(FakeSegment(), script: try script("429=2 429=2 200"))
      let broker = try TestBroker()
      let publisher = try PublisherProcess(
        bus: broker.bus, data: broker.folder.file("data"), endpoint: fake.url)
      #expect(try broker.publish(input: EventLine.load(0..<500)).status == .exited(0))
      let first = try #require(fake.waitForRequest(1))
      #expect(try waitUntil { try publisher.state() == "paused" })
      #expect(try broker.publish(input: EventLine.load(500..<600)).status == .exited(0))
      let second = try #require(fake.waitForRequest(2))
      let third = try #require(fake.waitForRequest(3))
      // Seen within milliseconds of their arrival.
      #expect(second - first > 1_900_000_000)
      #expect(third - second > 1_900_000_000)
      #expect(try publisher.isSettled(600))
      #expect(fake.ledger.ids == (0..<600).map { EventLine.loadID($0) })
      #expect(fake.ledger.doubles.isEmpty)
    }

    @Test func `a proxy's page is retried, and the log says what it said`() throws {
      let fake = try FakeServer(FakeSegment(), script: try script("500html 502html 200html 200"))
      let broker = try TestBroker()
      let publisher = try PublisherProcess(
        bus: broker.bus, data: broker.folder.file("data"), endpoint: fake.url)
      #expect(try broker.publish(input: EventLine.load(0..<10)).status == .exited(0))
      let times = try (1...4).map { try #require(fake.waitForRequest($0)) }
      #expect(times[3] - times[2] > times[1] - times[0])
      #expect(try publisher.isSettled(10))
      #expect(fake.ledger.ids.count == 10)
      #expect(publisher.log.contains("HTTP 500"))
      #expect(!publisher.log.contains("<"))
    }

    @Test func `the body of a retry differs in sentAt alone`() throws {
      let fake = try FakeServer(FakeSegment(), script: try script("500html 500html 200"))
      let broker = try TestBroker()
      let publisher = try PublisherProcess(
        bus: broker.bus, data: broker.folder.file("data"), endpoint: fake.url)
      let kinds = [
        EventLine.track("Bought", id: "k1", properties: #"{"a":[1,1.0,true,null,{"b":{}}]}"#),
        #"{"type":"identify","userId":"u","traits":{"n":1},"messageId":"k2"}"#,
        #"{"type":"alias","userId":"u","previousId":"a","messageId":"k3"}"#,
        #"{"type":"page","userId":"u","name":"Home","messageId":"k4"}"#,
        #"{"type":"group","userId":"u","groupId":"g","messageId":"k5"}"#,
        #"{"type":"screen","anonymousId":"a","name":"Main","messageId":"k6"}"#,
      ]
      #expect(try broker.publish(lines: kinds).status == .exited(0))
      #expect(try publisher.isSettled(6))
      let requests = fake.ledger.requests
      try #require(requests.count == 3)
      #expect(JSONPiece.batch(requests[0]).count == 6)
      #expect(JSONPiece.batch(requests[0]) == JSONPiece.batch(requests[2]))
      let members = requests.map { JSONPiece($0.body[...]).members.map(\.key) }
      #expect(members[0] == members[2])
      #expect(
        JSONPiece(requests[0].body[...])["sentAt"] != JSONPiece(requests[2].body[...])["sentAt"])
    }

    @Test func `an answer that is lost costs no event and changes none`() throws {
      let fake = try FakeServer(FakeSegment(), script: try script("reset resetmid close half 200"))
      let broker = try TestBroker()
      let publisher = try PublisherProcess(
        bus: broker.bus, data: broker.folder.file("data"), endpoint: fake.url)
      #expect(try broker.publish(input: EventLine.load(0..<300)).status == .exited(0))
      #expect(try publisher.isSettled(300))
      #expect(Set(fake.ledger.ids) == Set((0..<300).map { EventLine.loadID($0) }))
      #expect(fake.ledger.changed.isEmpty)
      #expect(!fake.ledger.doubles.isEmpty)
    }

    @Test func `one bad event is set aside, and no other waits for it`() throws {
      let fake = try FakeServer(
        FakeSegment(), script: try script("400one=\(EventLine.loadID(50))"))
      let broker = try TestBroker()
      let publisher = try PublisherProcess(
        bus: broker.bus, data: broker.folder.file("data"), endpoint: fake.url)
      #expect(try broker.publish(input: EventLine.load(0..<100)).status == .exited(0))
      #expect(try publisher.isSettled(100))
      #expect(fake.ledger.ids.count == 99)
      #expect(fake.ledger.requests.count <= 16)
      let letters = try publisher.letters()
      #expect(letters.map { $0["event"]?["messageId"]?.text } == [EventLine.loadID(50)])
      #expect(letters.first?["answer"]?.text?.contains("invalid event") == true)
      #expect(letters.first?["status"]?.int == 400)
      #expect(try publisher.status()["ledger"]?["dead"]?.int == 1)
      #expect(try broker.publish(input: EventLine.load(100..<101)).status == .exited(0))
      #expect(try publisher.isSettled(101))
    }

    @Test func `a request that is too large is cut until it fits`() throws {
      let fake = try FakeServer(FakeSegment(), script: try script("413over=2000"))
      let broker = try TestBroker()
      let publisher = try PublisherProcess(
        bus: broker.bus, data: broker.folder.file("data"), endpoint: fake.url,
        ["--gzip-level", "0"])
      #expect(try broker.publish(input: EventLine.load(0..<2000)).status == .exited(0))
      #expect(try publisher.isSettled(2000))
      #expect(fake.ledger.ids == (0..<2000).map { EventLine.loadID($0) })
      // Once it knows, it cuts what fits from the start.
      let large = fake.ledger.requests.filter { $0.wireBody.count > 2000 }.count
      #expect(large < 40)
    }

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

    @Test func `a wrong key keeps the events, asks rarely, and is seen`() throws {
      let fake = try FakeServer(FakeSegment(), script: try script("401"))
      let broker = try TestBroker()
      let publisher = try PublisherProcess(
        bus: broker.bus, data: broker.folder.file("data"), endpoint: fake.url)
      #expect(try broker.publish(input: EventLine.load(0..<3000)).status == .exited(0))
      #expect(try waitUntil { try publisher.state() == "configuration-error" })
      let reason = try publisher.status()["reason"]?.text
      #expect(reason?.contains("HTTP 401") == true)
      #expect(!publisher.log.contains("test-key"))
      #expect(fake.ask { $0.requests.count } == 1)
      let listed = try Program.run([
        "status", "--bus", broker.bus, "--data", broker.folder.file("data"),
      ])
      #expect(listed.output.contains("configuration-error"))
      #expect(publisher.stop() == .exited(0))
      fake.play([.serve])
      try publisher.start()
      #expect(try publisher.isSettled(3000))
      #expect(fake.ledger.ids == (0..<3000).map { EventLine.loadID($0) })
    }

    @Test func `GameAnalytics' success that refuses one event sets that one aside`() throws {
      let fake = try FakeServer(
        FakeGameAnalytics(gameKey: "abc", secretKey: "secret"), script: [.serve, .errorsWithin])
      try expectFirstSetAside(
        "gameanalytics", fake.url, ["--game-key", "abc"], ["EVENTBUS_SECRET_KEY": "secret"])
    }

    @Test func `a webhook's success that refuses one event sets that one aside`() throws {
      let fake = try FakeServer(CountingProvider(), script: [.errorsWithin])
      try expectFirstSetAside("webhook", fake.url, [], [:])
    }

    /// Takes everything.
    private struct CountingProvider: FakeProvider {
      func answer(
        _ request: StubRequest, at now: Timestamp, _ ledger: inout FakeLedger
      ) -> (answer: StubAnswer, events: Int) {
        (StubAnswer(200), JSONPiece(request.body[...]).elements.count)
      }
    }

    private func expectFirstSetAside(
      _ kind: String, _ url: String, _ options: [String], _ environment: [String: String]
    ) throws {
      let broker = try TestBroker()
      let publisher = try PublisherProcess(
        kind, bus: broker.bus, data: broker.folder.file("data"), endpoint: url, options,
        environment: environment)
      #expect(try broker.publish(input: EventLine.load(0..<20)).status == .exited(0))
      #expect(try publisher.isSettled(20))
      let letters = try publisher.letters(destination: kind)
      #expect(letters.map { $0["event"]?["messageId"]?.text } == [EventLine.loadID(0)])
      #expect(try publisher.status()["ledger"]?["applied"]?.int == 19)
    }
  }
}
