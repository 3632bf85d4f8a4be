internal import Compression
internal import DestinationTestSupport
internal import Destinations
internal import HTTPClient
internal import Primitives
internal import Testing

/// The adapters against the pretended providers, over real sockets, and that these refuse what the real
/// ones refuse.
@Suite(.timeLimit(.minutes(5)))
struct FakeTests {
  static func send(_ call: HTTPCall) throws -> HTTPReply {
    var client = try HTTPClient()
    _ = try client.start(call)
    while true {
      if let completion = client.wait(.seconds(10)).first { return try completion.result.get() }
    }
  }

  /// Prepares events and sends those that are taken in one request.
  static func send(_ events: [String], by adapter: inout some DestinationAdapter) throws
    -> DeliveryVerdict
  {
    var items: [[UInt8]] = []
    for event in events { items.append(Array(try adapter.item(event).utf8)) }
    let reply = try send(adapter.call(items, sentAt: .now()))
    return adapter.verdict(reply, count: items.count, at: .now())
  }

  static let kinds = [
    Sample.track(id: "m1", with: #""properties":{"id":18446744073709551615}"#),
    #"{"type":"identify","messageId":"m2","userId":"u1","timestamp":1714564800}"#,
    #"{"type":"page","messageId":"m3","anonymousId":"a","timestamp":1714564800}"#,
    #"{"type":"screen","messageId":"m4","userId":"u1","timestamp":1714564800}"#,
    #"{"type":"group","messageId":"m5","userId":"u1","groupId":"g","timestamp":1714564800}"#,
    #"{"type":"alias","messageId":"m6","userId":"u1","previousId":"a","timestamp":1714564800}"#,
  ]

  @Test func `Segment stores every type with its digits, and drops nothing`() throws {
    let fake = try FakeServer(FakeSegment(writeKey: "key"))
    var adapter = SegmentAdapter(
      SegmentConfiguration(endpoint: try HTTPEndpoint(fake.url), writeKey: "key"))
    #expect(try Self.send(Self.kinds, by: &adapter) == .delivered)
    #expect(try Self.send(Self.kinds, by: &adapter) == .delivered)
    let ledger = fake.ledger
    #expect(ledger.ids == ["m1", "m2", "m3", "m4", "m5", "m6"])
    #expect(ledger.doubles.map(\.id) == ledger.ids && ledger.changed.isEmpty)
    #expect(ledger.silentDrops.isEmpty)
    #expect(ledger.orderByUser == ["u1": ["m1", "m2", "m4", "m5", "m6"], "a": ["m3"]])
    #expect(ledger.stored[0].event["properties"]?.text == #"{"id":18446744073709551615}"#)
    #expect(ledger.requests.allSatisfy { $0.headers["content-encoding"] == "gzip" })
    // By Segment's rule the event keeps its time, since sentAt is the time of the try.
    let time = try #require(ledger.stored[0].time)
    let given = try #require(Timestamp(text: "2024-05-01T12:00:00.000Z"))
    #expect(abs(time.nanoseconds - given.nanoseconds) < 10_000_000_000)
  }

  @Test(arguments: [
    (#"{"batch":[{"type":"track","event":"E","messageId":"m"}]}"#, "no_user_anon_id"),
    (#"{"batch":[{"type":"track","userId":"u","messageId":"m"}]}"#, "track without event"),
    (#"{"batch":[{"type":"group","userId":"u","messageId":"m"}]}"#, "group without groupId"),
    (#"{"batch":[{"type":"alias","userId":"u","messageId":"m"}]}"#, "alias without previousId"),
  ])
  func `the pretended Segment loses what the real one loses`(
    _ sample: (body: String, reason: String)
  ) throws {
    let fake = try FakeServer(FakeSegment(writeKey: "key"))
    let login = HTTPHeader("Authorization", "Basic a2V5Og==")
    let call = HTTPCall(fake.url + "/v1/batch", headers: [login], body: Array(sample.body.utf8))
    #expect(try Self.send(call).status == 200)
    #expect(fake.ledger.silentDrops.map(\.reason) == [sample.reason])
    #expect(fake.ledger.stored.isEmpty)
  }

  @Test func `the pretended Segment refuses sizes and what is no JSON`() throws {
    let fake = try FakeServer(FakeSegment(writeKey: "key"))
    let long = String(repeating: "a", count: 33_000)
    for body in ["{", #"{"batch":[{"userId":"u","a":"\#(long)"}]}"#] {
      let reply = try Self.send(HTTPCall(fake.url + "/v1/batch", body: Array(body.utf8)))
      #expect(reply.status == 400)
    }
    let event = #"{"type":"track","event":"E","userId":"u","messageId":"m"}"#
    let many = #"{"batch":[\#(Array(repeating: event, count: 2501).joined(separator: ","))]}"#
    #expect(try Self.send(HTTPCall(fake.url + "/v1/batch", body: Array(many.utf8))).status == 200)
    #expect(fake.ledger.silentDrops.filter { $0.reason == "over 2,500 events" }.count == 1)
    // The key was missing.
    #expect(fake.ledger.silentDrops.filter { $0.reason == "bad writeKey" }.count == 2500)
    var limited = FakeSegment(writeKey: "key")
    limited.requestsPerSecond = 0
    let slow = try FakeServer(limited)
    let reply = try Self.send(HTTPCall(slow.url + "/v1/batch", body: Array("{}".utf8)))
    #expect(reply.status == 429 && reply.header("retry-after") == "1")
  }

  static func mixpanel(
    _ fake: FakeServer<FakeMixpanel>, secret: String = "secret"
  ) throws -> MixpanelAdapter {
    MixpanelAdapter(
      MixpanelConfiguration(
        endpoint: try HTTPEndpoint(fake.url),
        credential: .serviceAccount(user: "user", secret: secret, project: "1")))
  }

  @Test(arguments: ["insert_id", "$insert_id"])
  func `Mixpanel stores the good ones and names the bad one`(_ key: String) throws {
    var provider = FakeMixpanel()
    provider.insertKey = key
    let fake = try FakeServer(provider)
    let adapter = try Self.mixpanel(fake)
    let good =
      #"{"event":"E","properties":{"time":1714564800000,"distinct_id":"u","$insert_id":"a"}}"#
    let bad = #"{"event":"E","properties":{"time":"now","distinct_id":"u","$insert_id":"b"}}"#
    let reply = try Self.send(
      adapter.call([good, bad].map { Array($0.utf8) }, sentAt: Sample.received))
    guard case .partial(let refused) = adapter.verdict(reply, count: 2, at: .now()) else {
      Issue.record("not partial")
      return
    }
    #expect(refused[1]?.contains("properties.time") == true && refused.count == 1)
    #expect(fake.ledger.ids == ["a"])
  }

  @Test func `Mixpanel takes old, new and near events, whatever their messageId`() throws {
    let fake = try FakeServer(FakeMixpanel())
    var adapter = try Self.mixpanel(fake)
    let soon = Timestamp(nanoseconds: Timestamp.now().nanoseconds + 600_000_000_000).text
    let events = ["2006-01-02T03:04:05.000Z", Timestamp.now().text, soon].map {
      #"{"type":"track","event":"E","messageId":"Ü \#($0)","userId":"u","timestamp":"\#($0)"}"#
    }
    #expect(try Self.send(events, by: &adapter) == .delivered)
    #expect(try Self.send(events, by: &adapter) == .delivered)
    #expect(fake.ledger.stored.count == 3 && fake.ledger.doubles.count == 3)
    #expect(fake.ledger.stored[0].time?.text == "2006-01-02T03:04:05.000Z")
    #expect(fake.ledger.refused.isEmpty)
  }

  @Test func `Mixpanel's other refusals`() throws {
    var provider = FakeMixpanel()
    provider.eventsPerMinute = 1
    let fake = try FakeServer(provider)
    var wrong = try Self.mixpanel(fake, secret: "other")
    guard case .configuration = try Self.send([Sample.track()], by: &wrong) else {
      Issue.record("a wrong secret is a matter of configuration")
      return
    }
    var adapter = try Self.mixpanel(fake)
    guard
      case .pause = try Self.send([Sample.track(), Sample.track(id: "m2")], by: &adapter)
    else {
      Issue.record("too many events are a pause")
      return
    }
    let large = [UInt8](repeating: 0x20, count: 2_100_000)
    let call = adapter.call([large], sentAt: Sample.received)
    #expect(try Self.send(call).status == 413)
  }

  @Test func `GameAnalytics takes what the adapter makes, after the init call`() throws {
    var provider = FakeGameAnalytics()
    provider.clockOffset = 3600
    let fake = try FakeServer(provider)
    var adapter = GameAnalyticsAdapter(
      GameAnalyticsConfiguration(
        endpoint: try HTTPEndpoint(fake.url), gameKey: provider.gameKey,
        secretKey: Array(provider.secretKey.utf8)))
    let call = adapter.opening(at: .now())
    let opening = try #require(call)
    #expect(adapter.opened(try Self.send(opening), at: .now()) == .delivered)
    let events = [
      Sample.track(with: #""properties":{"value":21.5,"a b":"c"}"#), Sample.track("Survey Answer"),
    ]
    #expect(try Self.send(events, by: &adapter) == .delivered)
    #expect(fake.ledger.ids == ["game:ended", "survey:answer"])
    let time = try #require(fake.ledger.stored[0].time)
    #expect(abs(time.nanoseconds / 1_000_000_000 - 1_714_568_400) <= 1)
  }

  @Test(arguments: [
    ("\"client_ts\":1", "\"client_ts\":1.5", "client_ts"), ("design", "nothing", "category"),
    ("game:ended", "a:b:c:d:e:f", "event_id"), ("\"v\":2", "\"v\":1", "v"),
    ("linux 0", "linux", "os_version"), ("\"session_num\":1", "\"session_num\":0", "session_num"),
  ])
  func `the pretended GameAnalytics names what is wrong`(
    _ sample: (old: String, new: String, field: String)
  ) throws {
    let provider = FakeGameAnalytics()
    let fake = try FakeServer(provider)
    var adapter = GameAnalyticsAdapter(
      GameAnalyticsConfiguration(
        endpoint: try HTTPEndpoint(fake.url), gameKey: provider.gameKey,
        secretKey: Array(provider.secretKey.utf8)))
    let good = try adapter.item(Sample.track())
    let bad = good.replacing(sample.old, with: sample.new, maxReplacements: 1)
    try #require(bad != good)
    let reply = try Self.send(
      adapter.call([good, bad].map { Array($0.utf8) }, sentAt: Sample.received))
    #expect(adapter.verdict(reply, count: 2, at: .now()) == .partial(refused: [1: sample.field]))
    #expect(fake.ledger.stored.count == 1)
    var tampered = adapter.call([Array(good.utf8)], sentAt: Sample.received)
    tampered.headers[0].value = "AAAA"
    #expect(try Self.send(tampered).status == 401)
  }

  @Test(arguments: [
    "429=5", "429date=5", "429none", "429=1e9", "429=-3", "500html", "200html", "413over=10", "401",
    "reset", "resetmid", "close", "half", "empty", "slow=0.01", "hang=0.01", "200errors", "text",
    "thenclose", "400one=m-1", "latency=1,5", "cut", "cutreset",
  ])
  func `a script is played step by step`(_ word: String) throws {
    let step = try #require(FaultStep(word))
    let fake = try FakeServer(FakeSegment(writeKey: "key"), script: [step, .serve])
    var adapter = SegmentAdapter(
      SegmentConfiguration(endpoint: try HTTPEndpoint(fake.url), writeKey: "key", gzipLevel: 0))
    let items = [Array(try adapter.item(Sample.track()).utf8)]
    var client = try HTTPClient()
    _ = try client.start(adapter.call(items, sentAt: .now()))
    var first: Result<HTTPReply, HTTPFailure>?
    while first == nil { first = client.wait(.seconds(10)).first?.result }
    let isServed = [
      "slow=0.01", "hang=0.01", "200errors", "empty", "text", "thenclose", "latency=1,5",
    ].contains(word)
    switch first {
    case .success(let reply): #expect((reply.status == 200) == (isServed || word == "200html"))
    default:
      #expect(
        ["reset", "resetmid", "close", "half", "cut", "cutreset"].contains(word),
        "\(String(describing: first))")
    }
    // The next request is served, and what the first left behind shows.
    #expect(try Self.send(adapter.call(items, sentAt: .now())).status == 200)
    let isStored = isServed || ["reset", "resetmid", "close", "half"].contains(word)
    #expect(fake.ledger.doubles.count == (isStored ? 1 : 0))
    #expect(fake.ledger.ids == ["m-1"])
  }
}
