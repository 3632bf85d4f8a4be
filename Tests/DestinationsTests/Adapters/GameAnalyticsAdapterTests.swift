internal import Compression
internal import Destinations
internal import Hashing
internal import HTTPClient
internal import Primitives
internal import Testing

@Suite struct GameAnalyticsAdapterTests {
  static func adapter(gzipLevel: Int32 = 0) throws -> GameAnalyticsAdapter {
    GameAnalyticsAdapter(
      GameAnalyticsConfiguration(
        endpoint: try HTTPEndpoint("http://127.0.0.1:1"), gameKey: "game",
        secretKey: Array("16813a12f718bc5c620f56944e1abc3ea13ccbac".utf8), gzipLevel: gzipLevel))
  }

  @Test func `a design event has its name, value and what its context says`() throws {
    var adapter = try Self.adapter()
    let event = Sample.track(
      with: #""properties":{"Opponent Type":"human","value":21,"on":true,"list":[1]},"context":{"#
        + #""os":{"name":"iOS","version":"17.1.2 beta"},"device":{"model":"iPhone15,2","#
        + #""manufacturer":"Apple"},"app":{"version":"1.2"},"network":{"wifi":true},"#
        + #""sessionId":"0123ABCD-89AB-CDEF-0123-456789ABCDEF","sessionNumber":4}"#)
    let expected = #"""
      {"client_ts":1714564800,"category":"design","event_id":"game:ended","v":2,"user_id":"u1",
      "sdk_version":"rest api v2","platform":"ios","os_version":"ios 17.1.2","device":"iPhone15,2",
      "manufacturer":"Apple","build":"1.2","connection_type":"wifi",
      "session_id":"0123abcd-89ab-cdef-0123-456789abcdef","session_num":4,"value":21,
      "custom_fields":{"Opponent_Type":"human","on":"true"}}
      """#
    #expect(try adapter.item(event) == expected.replacing("\n", with: ""))
  }

  @Test func `without a context the defaults stand there, and a session a day`() throws {
    var adapter = try Self.adapter()
    let item = try adapter.item(Sample.track("Game Reset"))
    #expect(
      item.contains(
        #""platform":"linux","os_version":"linux 0","device":"unknown","manufacturer":"unknown""#))
    #expect(item.contains(#""session_num":1"#))
    #expect(!item.contains("value"))
    #expect(item == (try adapter.item(Sample.track("Game Reset", id: "other"))))
    let session = try #require(item.firstRange(of: "\"session_id\":\"")).upperBound
    let id = item[session...].prefix(36)
    #expect(id.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
    #expect(id.lowercased() == id)
  }

  @Test(arguments: [
    ("Game Ended", "game:ended"), ("Survey Answer", "survey:answer"), ("A B C D E", "a:b:c:d:e"),
    ("Who won?", "who:won?"),
  ])
  func `a name is lower case with colons`(_ sample: (name: String, id: String)) throws {
    var adapter = try Self.adapter()
    #expect(try adapter.item(Sample.track(sample.name)).contains("\"event_id\":\"\(sample.id)\""))
  }

  @Test(arguments: [
    "A B C D E F", "Größe", "Two  Blanks", String(repeating: "a", count: 65), "a/b",
  ])
  func `a name that its rule does not take is refused`(_ name: String) throws {
    var adapter = try Self.adapter()
    #expect(try adapter.refusal(Sample.track(name))?.contains("rename") == true)
  }

  @Test func `somebody must have done it`() throws {
    var adapter = try Self.adapter()
    #expect(try adapter.refusal(Sample.track(user: nil)) != nil)
    let long = String(repeating: "u", count: 65)
    #expect(try adapter.item(Sample.track(user: long)).contains("\"user_id\":\"") == true)
    #expect(try !adapter.item(Sample.track(user: long)).contains(long))
  }

  @Test(arguments: [
    ("21.5", "21.5"), ("1e3", "1000.0"), ("\"21\"", nil), ("true", nil), ("null", nil),
  ])
  func `only a number is a value`(_ sample: (given: String, value: String?)) throws {
    var adapter = try Self.adapter()
    let item = try adapter.item(Sample.track(with: #""properties":{"value":\#(sample.given)}"#))
    #expect(item.contains("\"session_num\":1,\"value\":") == (sample.value != nil))
    if let value = sample.value { #expect(item.contains("\"value\":\(value)}")) }
  }

  @Test func `the signature is over the body as it is sent`() throws {
    let key = Array("16813a12f718bc5c620f56944e1abc3ea13ccbac".utf8)
    // The example of the provider's documentation.
    let example = Array(#"{"test": "test"}"#.utf8)
    #expect(
      Base64.encode(unsafe HMACSHA256.code(key: key, example.span.bytes))
        == "slnR8CKJtKtFDaESSrqnqQeUvp5FaVV7d5XHxt50N5A=")
    let plain = try Self.adapter().call([Array("1".utf8)], sentAt: Sample.received)
    #expect(String(decoding: plain.body, as: UTF8.self) == "[1]")
    // openssl dgst -sha256 -hmac 16813a12f718bc5c620f56944e1abc3ea13ccbac -binary | base64
    #expect(plain.header("Authorization") == "Dnv3vI0z78kx4xjB3Ql97T9j/qdfibwYt2cvua2jQFo=")
    let adapter = try Self.adapter(gzipLevel: 6)
    let packed = adapter.call([[UInt8](repeating: 0x20, count: 5000)], sentAt: Sample.received)
    #expect(packed.header("Content-Encoding") == "gzip")
    let code = unsafe HMACSHA256.code(key: key, packed.body.span.bytes)
    #expect(packed.header("Authorization") == Base64.encode(code))
  }

  @Test func `the opening comes first and tells how far the clock is off`() throws {
    var adapter = try Self.adapter()
    let opening = adapter.opening(at: Sample.received)
    let call = try #require(opening)
    #expect(call.url == "http://127.0.0.1:1/v2/game/init")
    #expect(
      String(decoding: call.body, as: UTF8.self)
        == #"{"platform":"linux","os_version":"linux 0","sdk_version":"rest api v2"}"#)
    let now = Sample.received
    let second = now.nanoseconds / 1_000_000_000
    for (server, seconds) in [
      (second + 9, 0), (second - 9, 0), (second + 100, 100), (second - 10, -10),
      // No time at all.
      (Int64.max, 0), (-1, 0),
    ] {
      let reply = HTTPReply(
        status: 200, body: Array(#"{"enabled":true,"server_ts":\#(server)}"#.utf8))
      #expect(adapter.opened(reply, at: Sample.received) == .delivered)
      let item = Array(try adapter.item(Sample.track()).utf8)
      let body = String(decoding: adapter.call([item], sentAt: now).body, as: UTF8.self)
      #expect(
        body.hasPrefix("[{\"client_ts\":\(1_714_564_800 + seconds),\"category\""), "\(body)")
    }
  }

  @Test func `a game that is switched off waits for a person`() throws {
    var adapter = try Self.adapter()
    let off = HTTPReply(status: 200, body: Array(#"{"enabled":false,"server_ts":1}"#.utf8))
    guard case .configuration = adapter.opened(off, at: Sample.received),
      case .configuration = adapter.opened(HTTPReply(status: 401), at: Sample.received),
      case .retry = adapter.opened(HTTPReply(status: 200), at: Sample.received)
    else {
      Issue.record("an answer to the init call is misread")
      return
    }
  }

  @Test func `answers name the events that were refused`() throws {
    let adapter = try Self.adapter()
    #expect(adapter.verdict(200, "[]", count: 2) == .delivered)
    #expect(
      adapter.verdict(400, #"[{"index":1,"error":"bad"}]"#, count: 2)
        == .partial(refused: [1: "bad"]))
    #expect(
      adapter.verdict(400, #"[{"error":"a"},{"error":"b"}]"#, count: 2)
        == .partial(refused: [0: "a", 1: "b"]))
    #expect(
      adapter.verdict(
        200, #"{"errors":true,"events":[{"status":413},{"status":201}]}"#, count: 2)
        == .partial(refused: [0: "status 413 in the answer"]))
    guard case .split = adapter.verdict(400, #"[{"error":"a"}]"#, count: 2),
      case .retry = adapter.verdict(200, "", count: 2),
      case .configuration = adapter.verdict(401, "", count: 2)
    else {
      Issue.record("an answer is misread")
      return
    }
  }

  @Test func `only tracks are design events`() throws {
    var adapter = try Self.adapter()
    let page = #"{"type":"page","userId":"u","timestamp":1714564800}"#
    #expect(try adapter.prepared(page).outcome == .skip)
  }
}
