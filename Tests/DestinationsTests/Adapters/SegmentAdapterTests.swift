internal import Compression
internal import Destinations
internal import EventModel
internal import HTTPClient
internal import Primitives
internal import Testing

@Suite struct SegmentAdapterTests {
  static func adapter(
    gzipLevel: Int32 = 0, mapping: DestinationMapping = .init()
  ) throws -> SegmentAdapter {
    SegmentAdapter(
      SegmentConfiguration(
        endpoint: try HTTPEndpoint("http://127.0.0.1:1"), writeKey: "key", gzipLevel: gzipLevel,
        mapping: mapping))
  }

  @Test func `a track is its canonical JSON without what Segment sets itself`() throws {
    var adapter = try Self.adapter()
    let given = """
      {"type":"track","event":"Game Ended","messageId":"m-1","userId":null,"anonymousId":"a",
      "timestamp":"2024-05-01T14:00:00.5+02:00","sentAt":"2024-05-01T12:00:01.000Z",
      "receivedAt":"2024-05-01T12:00:02.000Z",
      "properties":{"id":18446744073709551615,"one":1.0,"on":true,"none":null,"t":"a\\u0000\\"ü"},
      "context":{"ip":"1.2.3.4"},"integrations":{"All":false,"Mixpanel":true},"version":2}
      """
    let expected = #"""
      {"type":"track","event":"Game Ended","messageId":"m-1","userId":null,"anonymousId":"a",
      "timestamp":"2024-05-01T12:00:00.500Z",
      "properties":{"id":18446744073709551615,"one":1.0,"on":true,"none":null,"t":"a\u0000\"ü"},
      "context":{"ip":"1.2.3.4"},"integrations":{"All":false,"Mixpanel":true},"version":2}
      """#
    #expect(try adapter.item(given) == expected.replacing("\n", with: ""))
  }

  @Test(arguments: [
    #"{"type":"identify","messageId":"m","userId":"u","timestamp":"2024-05-01T12:00:00.000Z","traits":{"a":1}}"#,
    #"{"type":"page","messageId":"m","userId":"u","timestamp":"2024-05-01T12:00:00.000Z","properties":{},"name":"Home","category":"c"}"#,
    #"{"type":"screen","messageId":"m","anonymousId":"a","timestamp":"2024-05-01T12:00:00.000Z","name":"Home"}"#,
    #"{"type":"group","messageId":"m","userId":"u","timestamp":"2024-05-01T12:00:00.000Z","traits":{},"groupId":"g"}"#,
    #"{"type":"alias","messageId":"m","userId":"u","timestamp":"2024-05-01T12:00:00.000Z","previousId":"a"}"#,
  ])
  func `every other type goes as it is`(_ event: String) throws {
    var adapter = try Self.adapter()
    #expect(try adapter.item(event) == event)
  }

  @Test func `a success that says it was none is a refusal`() throws {
    let adapter = try Self.adapter()
    guard case .split = adapter.verdict(200, #"{"success":false,"message":"no"}"#, count: 2) else {
      Issue.record("taken for delivered")
      return
    }
    for answer in [#"{"success":true}"#, "", "OK", #"{"success":"false"}"#, "[false]"] {
      #expect(adapter.verdict(200, answer, count: 2) == .delivered, "\(answer)")
    }
  }

  @Test(arguments: [
    (#"{"type":"track","event":"E","timestamp":1714564800}"#, "userId"),
    (
      #"{"type":"track","event":"E","userId":"","anonymousId":null,"timestamp":1714564800}"#,
      "userId"
    ),
    (#"{"type":"group","userId":"u","timestamp":1714564800}"#, "groupId"),
    (#"{"type":"alias","userId":"u","timestamp":1714564800}"#, "previousId"),
  ])
  func `what Segment would drop without a word is refused`(_ sample: (String, String)) throws {
    var adapter = try Self.adapter()
    let reason = try adapter.refusal(sample.0)
    #expect(reason?.contains(sample.1) == true, "\(reason ?? "taken")")
  }

  @Test func `a number is an identifier too`() throws {
    var adapter = try Self.adapter()
    let event =
      #"{"type":"track","event":"E","messageId":"m","userId":7,"timestamp":"2024-05-01T12:00:00.000Z"}"#
    #expect(try adapter.item(event) == event)
  }

  @Test func `a messageId of a hundred characters becomes its hash, an empty one the place`() throws
  {
    var adapter = try Self.adapter()
    let long = String(repeating: "a", count: 100)
    // SHA-256 of a hundred "a".
    let hash = "2816597888e4a0d3a36b82b83316ab32680eb8f00f8cd3b904d681246d285a0e"
    #expect(try adapter.item(Sample.track(id: long)).contains("\"messageId\":\"sha256-\(hash)\""))
    let short = String(repeating: "a", count: 99)
    #expect(try adapter.item(Sample.track(id: short)).contains("\"messageId\":\"\(short)\""))
    var event = EventEnvelope("E")
    event.userId = "u"
    event.messageId = ""
    event.timestamp = Sample.received
    #expect(try adapter.item(event).contains("\"messageId\":\"event-3-7\""))
  }

  @Test(arguments: [
    (#"{"All":false}"#, true), (#"{"Segment.io":false}"#, false),
    (#"{"All":true,"Segment.io":false}"#, false), (#"{"segment.io":false}"#, true),
    (#"{"All":false,"Segment.io":true}"#, true), ("null", true),
  ])
  func `an event can keep away from Segment`(_ sample: (integrations: String, goes: Bool)) throws {
    var adapter = try Self.adapter()
    let event = Sample.track(with: #""integrations":\#(sample.integrations)"#)
    #expect(try adapter.prepared(event).outcome == (sample.goes ? .ready : .skip))
  }

  @Test func `a batch is one object, and two tries differ in sentAt only`() throws {
    let adapter = try Self.adapter()
    let items = ["{\"a\":1}", "{\"b\":2}"].map { Array($0.utf8) }
    let first = adapter.call(items, sentAt: Timestamp(nanoseconds: 1_000_000_000))
    let second = adapter.call(items, sentAt: Timestamp(nanoseconds: 2_000_000_000))
    #expect(first.url == "http://127.0.0.1:1/v1/batch")
    #expect(first.header("Authorization") == "Basic a2V5Og==")
    #expect(first.header("Content-Type") == "application/json")
    let text = String(decoding: first.body, as: UTF8.self)
    #expect(text == #"{"batch":[{"a":1},{"b":2}],"sentAt":"1970-01-01T00:00:01.000Z"}"#)
    #expect(
      String(decoding: second.body, as: UTF8.self) == text.replacing("00:00:01", with: "00:00:02"))
  }

  @Test func `the bytes around the items are within what the limits say`() throws {
    let adapter = try Self.adapter()
    let around = adapter.call([], sentAt: Sample.received).body.count
    #expect(around <= adapter.limits.headBytes)
  }

  @Test func `a body is packed when that is wanted`() throws {
    let call = try Self.adapter(gzipLevel: 4).call(
      [[UInt8](repeating: 65, count: 10_000)], sentAt: Sample.received)
    #expect(call.header("Content-Encoding") == "gzip")
    #expect(call.body.count < 1000)
    var stream = try GunzipStream()
    var body: [UInt8] = []
    try unsafe stream.read(call.body.span.bytes, into: &body, limit: 1 << 20)
    #expect(body.starts(with: "{\"batch\":[AAA".utf8))
  }

  @Test func `the key is shown nowhere`() throws {
    let adapter = SegmentAdapter(
      SegmentConfiguration(endpoint: try HTTPEndpoint("http://h"), writeKey: "hush"))
    #expect(adapter.route == "POST http://h/v1/batch")
  }

  @Test func `a damaged payload is refused`() throws {
    var adapter = try Self.adapter()
    let (name, payload) = try Sample.payload(Sample.track())
    for count in 0..<payload.count {
      var item: [UInt8] = []
      let cut = Array(payload[..<count])
      let outcome = unsafe adapter.prepare(
        name.span.bytes, cut.span.bytes, EventSource(position: nil, received: Sample.received),
        into: &item)
      guard case .refuse = outcome else {
        Issue.record("\(count) bytes of it were taken")
        return
      }
    }
  }
}
