internal import Destinations
internal import Hashing
internal import HTTPClient
internal import Primitives
internal import Testing

@Suite struct WebhookAdapterTests {
  static func adapter(_ change: (inout WebhookConfiguration) -> Void = { _ in }) throws
    -> WebhookAdapter
  {
    var configuration = WebhookConfiguration(endpoint: try HTTPEndpoint("http://h/hook?key=hush"))
    change(&configuration)
    return WebhookAdapter(configuration)
  }

  static let event =
    #"{"type":"track","event":"E","messageId":"m","userId":"u","timestamp":"2024-05-01T12:00:00.000Z","#
    + #""sentAt":"2024-05-01T12:00:01.000Z","properties":{"a":1,"b":1.0},"extra":true}"#

  @Test func `an event is its canonical JSON with the time of its arrival`() throws {
    var adapter = try Self.adapter()
    let expected = Self.event.dropLast() + ",\"receivedAt\":\"\(Sample.received.text)\"}"
    #expect(try adapter.item(Self.event) == expected)
  }

  @Test func `a mapped event differs only in what was mapped`() throws {
    var adapter = try Self.adapter {
      $0.mapping.rename = [Array("E".utf8): Array("F".utf8)]
      $0.mapping.properties = [.init(rename: [Array("a".utf8): Array("c".utf8)])]
    }
    let expected =
      Self.event.replacing("\"E\"", with: "\"F\"").replacing("\"a\":", with: "\"c\":").dropLast()
      + ",\"receivedAt\":\"\(Sample.received.text)\"}"
    #expect(try adapter.item(Self.event) == expected)
  }

  @Test func `a request is a list, signed with its time`() throws {
    let adapter = try Self.adapter {
      $0.secret = Array("hush".utf8)
      $0.headers = [HTTPHeader("X-Mine", "yes")]
    }
    let call = adapter.call(
      [Array("{}".utf8)], sentAt: Timestamp(nanoseconds: 1_714_564_800_500_000_000))
    #expect(call.url == "http://h/hook?key=hush")
    #expect(adapter.route == "POST http://h/hook")
    #expect(String(decoding: call.body, as: UTF8.self) == "[{}]")
    #expect(call.header("X-Mine") == "yes")
    #expect(call.header("X-Eventbus-Timestamp") == "1714564800")
    // printf '1714564800.[{}]' | openssl dgst -sha256 -hmac hush
    #expect(
      call.header("X-Eventbus-Signature")
        == "sha256=7e00e395c2e424bf80ec17c47c5a1e4c94eceecd110a16bf1ba516fda13fdd5a")
    #expect(try Self.adapter().call([], sentAt: Sample.received).headers.count == 1)
  }

  @Test func `errors inside a success are set aside`() throws {
    let adapter = try Self.adapter()
    let answer = #"{"errors":true,"events":[{"status":413},{"status":201}]}"#
    #expect(
      adapter.verdict(200, answer, count: 2)
        == .partial(refused: [0: "status 413 in the answer"]))
    // A list of another length says nothing about these events.
    #expect(adapter.verdict(200, answer, count: 3) == .delivered)
    #expect(adapter.verdict(204, "", count: 3) == .delivered)
    #expect(adapter.verdict(200, "thanks", count: 3) == .delivered)
  }

  @Test(arguments: ["Content-Length", "host", "X-Eventbus-Signature", "", "a b"])
  func `a header of our own cannot be given`(_ name: String) {
    #expect(WebhookConfiguration.fault(HTTPHeader(name, "x")) != nil)
    #expect(WebhookConfiguration.fault(HTTPHeader("X-Mine", "a\nb")) != nil)
    #expect(WebhookConfiguration.fault(HTTPHeader("X-Mine", "x")) == nil)
  }
}
