import Analytics
import AnalyticsTestSupport
import Database
import Dispatch
import Primitives
import TestSupport
import Testing

/// The client as an app uses it, without a network.
@Suite(.timeLimit(.minutes(5)))
struct ClientTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func client(
    _ transport: FakeTransport, stored: Bool = true,
    _ change: (inout AnalyticsClientConfiguration) -> Void = { _ in }
  ) throws -> AnalyticsClient {
    var configuration = AnalyticsClientConfiguration(
      endpoint: "http://collector.example/v1/events",
      storePath: stored ? folder.file("events.sqlite") : nil)
    configuration.flushInterval = .seconds(3600)
    change(&configuration)
    return try AnalyticsClient(configuration, transport: transport)
  }

  private func event(_ number: Int) -> AnalyticsEvent {
    AnalyticsEvent(name: "E\(number)", properties: ["number": .int(Int64(number))])
  }

  /// Holds up whoever encodes it.
  private struct Slow: PublishableEvent {
    static let eventType: EventType = "Slow"
    let gate: DispatchSemaphore
    var eventProperties: PropertyObject? {
      gate.wait()
      return nil
    }
  }

  @Test func `S1.2 track returns at once from any thread while the client is at work`() async throws
  {
    let transport = FakeTransport()
    let client = try client(transport)
    let gate = DispatchSemaphore(value: 0)
    client.track(Slow(gate: gate))
    // No actor's turn is waited for: these lines would never end.
    for number in 1...100 { client.track(event(number)) }
    await withTaskGroup { group in
      for number in 101...104 { group.addTask { client.track(event(number)) } }
    }
    gate.signal()
    #expect(await client.flush().isComplete)
    let inOrder = ["Slow"] + (1...100).map { "E\($0)" }
    #expect(Array(transport.acceptedNames.prefix(101)) == inOrder)
    #expect(transport.acceptedEvents.count == 105)
  }

  @Test func `S1.2 the twentieth event flushes by itself`() async throws {
    let transport = FakeTransport()
    let client = try client(transport)
    for number in 1...19 { client.track(event(number)) }
    #expect(await client.metrics.requests == 0)
    client.track(event(20))
    #expect(await eventually { transport.acceptedEvents.count == 20 })
    #expect(transport.acceptedNames == (1...20).map { "E\($0)" })
    #expect(await client.metrics.requests == 1)
  }

  @Test func `S1.2 the interval flushes by itself`() async throws {
    let transport = FakeTransport()
    let clock = ManualClock()
    let client = try client(transport) {
      $0.clock = clock
      $0.flushInterval = .seconds(30)
    }
    client.track(event(1))
    #expect(await client.metrics.waiting == 1)
    clock.advance(by: .seconds(29))
    #expect(await client.metrics.requests == 0)
    #expect(
      await eventually {
        clock.advance(by: .seconds(1))
        return transport.acceptedEvents.count == 1
      })
  }

  @Test func `S1.3 a batch is one POST of a JSON list, gzip, with sentAt of the attempt`()
    async throws
  {
    let transport = FakeTransport([.failure("no network")])
    let client = try client(transport) { $0.writeKey = "key" }
    for number in 1...30 { client.track(event(number)) }
    let time = AnalyticsEvent(
      name: "Timed", timestamp: Timestamp(nanoseconds: 1_700_000_000_123_456_789))
    client.track(time)
    #expect(await eventually { transport.exchanges.first?.answer != nil })
    #expect(await client.flush().isComplete)
    let exchanges = transport.exchanges
    let request = try #require(exchanges.last?.request)
    #expect(request.url == "http://collector.example/v1/events")
    #expect(request.header("content-type") == "application/json")
    #expect(request.header("content-encoding") == "gzip")
    #expect(request.header("authorization") == "Basic a2V5Og==")
    let first = try #require(exchanges.first?.events)
    let last = try #require(exchanges.last?.events)
    for (before, after) in zip(first, last) {
      #expect(before["messageId"] != nil && before["messageId"] == after["messageId"])
      var (before, after) = (before, after)
      #expect(before["sentAt"]?.stringValue?.count == "2026-11-30T10:00:00.000Z".count)
      #expect(before["sentAt"] != nil && after["sentAt"] != nil)
      before["sentAt"] = nil
      after["sentAt"] = nil
      #expect(before == after)
    }
    #expect(last.last?["timestamp"] == "2023-11-14T22:13:20.123456789Z")
  }

  @Test func `S1.3 one flush is in flight, and what fails stays in front`() async throws {
    let transport = FakeTransport([.hold, .failure("reset")])
    let client = try client(transport)
    for number in 1...5 { client.track(event(number)) }
    async let first = client.flush()
    #expect(await eventually { transport.heldCount == 1 })
    for number in 6...9 { client.track(event(number)) }
    async let second = client.flush()
    #expect(await client.metrics.waiting == 9)
    transport.release()
    let results = await [first, second]
    #expect(results.map(\.isComplete) == [false, false])
    #expect(results[0].failure == "reset" && results[0].waiting == 5)
    #expect(await client.flush().isComplete)
    #expect(transport.mostUnderWay == 1)
    #expect(transport.acceptedNames == (1...9).map { "E\($0)" })
  }

  @Test func `S1.7 user, session and common properties are in every event, and its own win`()
    async throws
  {
    let transport = FakeTransport()
    let client = try client(transport)
    client.track(AnalyticsEvent(name: "Before"))
    client.setUserId("u-1")
    client.setSessionId("s-1")
    client.setCommonProperties(["plan": "free", "build": 7])
    client.track(AnalyticsEvent(name: "After", properties: ["plan": "pro"]))
    client.setUserId(nil)
    client.track(AnalyticsEvent(name: "Later"))
    #expect(await client.flush().isComplete)
    let events = transport.acceptedEvents
    #expect(events.map { $0["userId"]?.stringValue } == [nil, "u-1", nil])
    #expect(events[1]["properties"] == ["plan": "pro", "build": 7])
    #expect(events[1]["context"]?.objectValue?["sessionId"] == "s-1")
    #expect(events[2]["properties"] == ["plan": "free", "build": 7])
    let anonymous = Set(events.map { $0["anonymousId"]?.stringValue })
    #expect(anonymous.count == 1 && anonymous.first??.count == 36)
  }

  @Test func `S1.8 a transport without a network is all a test needs`() async throws {
    let transport = FakeTransport()
    let client = try client(transport, stored: false)
    client.track(EventType.GameStarted(opponentType: .computer))
    #expect(await client.flush().isComplete)
    #expect(transport.acceptedNames == ["Game Started"])
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity])
  func `V02b a number without JSON becomes null, is counted, and the queue drains`(
    _ number: Double
  ) async throws {
    let transport = FakeTransport()
    let client = try client(transport)
    client.track(
      AnalyticsEvent(name: "Num", properties: ["x": .double(number), "list": [.double(number)]]))
    client.track(event(2))
    #expect(await client.flush().isComplete)
    #expect(transport.acceptedNames == ["Num", "E2"])
    #expect(transport.acceptedEvents[0]["properties"] == ["x": nil, "list": [nil]])
    #expect(await client.metrics.nonFiniteNumbers == 2)
  }

  @Test func `an event that cannot be encoded is counted with a reason and holds up nothing`()
    async throws
  {
    let transport = FakeTransport()
    let client = try client(transport)
    client.track(AnalyticsEvent(name: ""))
    client.track(event(1))
    #expect(await client.flush().isComplete)
    let metrics = await client.metrics
    #expect(metrics.tracked == 2 && metrics.refused == 1 && metrics.delivered == 1)
    #expect(metrics.lastRefusal?.contains("empty") == true)
  }

  @Test func `what the collector refuses by its results is counted and never sent again`()
    async throws
  {
    let body = """
      {"success":true,"accepted":1,"refused":1,"results":[{"index":0,"messageId":"a",
      "code":"BAD_NAME","reason":"it is empty"},{"index":1,"messageId":"b","code":"STORED"}]}
      """
    let transport = FakeTransport([.status(200, body: body)])
    let client = try client(transport)
    client.track(event(1))
    client.track(event(2))
    #expect(await client.flush().isComplete)
    let metrics = await client.metrics
    #expect(metrics.delivered == 1 && metrics.refused == 1 && metrics.requests == 1)
    #expect(metrics.lastRefusal == "BAD_NAME: it is empty")
  }

  @Test func `a portal's page with status 200 is no delivery`() async throws {
    let transport = FakeTransport([
      .status(200, headers: [("Content-Type", "text/html")], body: "<html>Welcome</html>")
    ])
    let client = try client(transport)
    client.track(event(1))
    #expect(await client.flush().isComplete == false)
    #expect(await client.flush().isComplete)
    #expect(await client.metrics.delivered == 1)
  }

  @Test(arguments: ["ftp://host/", "host", "https://user:secret@host/", "http://", "http://a b/"])
  func `an address that cannot be used is refused, without its secret`(_ endpoint: String) {
    #expect {
      _ = try AnalyticsClient(AnalyticsClientConfiguration(endpoint: endpoint))
    } throws: { "\($0)".contains("no address") && !"\($0)".contains("secret") }
  }

  @Test func `what a thousand threads track is all there, each thread's in order`() async throws {
    let transport = FakeTransport()
    let client = try client(transport)
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<50 {
        group.addTask {
          for number in 0..<100 { client.track(AnalyticsEvent(name: "T\(task)-\(number)")) }
        }
      }
    }
    #expect(await client.flush().isComplete)
    let names = transport.acceptedNames
    #expect(names.count == 5000 && Set(names).count == 5000)
    for task in 0..<50 {
      let mine = names.filter { $0.hasPrefix("T\(task)-") }
      #expect(mine == (0..<100).map { "T\(task)-\($0)" })
    }
  }
}
