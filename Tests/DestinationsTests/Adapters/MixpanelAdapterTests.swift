internal import Destinations
internal import HTTPClient
internal import Primitives
internal import Testing

@Suite struct MixpanelAdapterTests {
  static func adapter(_ mapping: DestinationMapping = .init()) throws -> MixpanelAdapter {
    MixpanelAdapter(
      MixpanelConfiguration(
        endpoint: try HTTPEndpoint("http://127.0.0.1:1"),
        credential: .serviceAccount(user: "user", secret: "secret", project: "9"), gzipLevel: 0,
        mapping: mapping))
  }

  @Test func `a track has its time in milliseconds, its ids and its own properties`() throws {
    var adapter = try Self.adapter()
    let event = Sample.track(
      with:
        #""anonymousId":"a1","properties":{"value":21,"time":5,"on":true},"context":{"ip":"1.2.3.4"}"#
    )
    #expect(
      try adapter.item(event)
        == #"{"event":"Game Ended","properties":{"time":1714564800000,"distinct_id":"u1","#
        + #""$insert_id":"m-1","$user_id":"u1","$device_id":"a1","value":21,"on":true,"ip":"1.2.3.4"}}"#
    )
  }

  @Test(arguments: [
    ("LOAD-000001", "LOAD-000001"),
    ("01234567-89ab-cdef-0123-456789abcdef", "01234567-89ab-cdef-0123-456789abcdef"),
    // Not its characters, too long, or ignored by Mixpanel: a UUID made from the hash.
    ("we_00001", "1a0a6c1d"), (String(repeating: "a", count: 37), "eb"), ("null", "74"),
    ("0", "5f"),
  ])
  func `an insert id is steady and within the allowed characters`(
    _ sample: (given: String, expected: String)
  ) throws {
    var adapter = try Self.adapter()
    let item = try adapter.item(Sample.track(id: sample.given))
    let id = try Self.insertID(of: item)
    #expect(id == (try Self.insertID(of: try adapter.item(Sample.track(id: sample.given)))))
    #expect((1...36).contains(id.count))
    #expect(id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
    if sample.given == sample.expected {
      #expect(id == sample.expected)
    } else {
      #expect(id.count == 36 && id != sample.given)
    }
  }

  static func insertID(of item: String) throws -> String {
    let start = try #require(item.firstRange(of: "\"$insert_id\":\"")).upperBound
    return String(item[start...].prefix { $0 != "\"" })
  }

  @Test(arguments: [
    (#""userId":"anonymous","anonymousId":"a1""#, "a1"), (#""userId":"NULL""#, ""),
    (#""userId":"0","anonymousId":"-1""#, ""), (#""userId":7"#, "7"),
    (#""anonymousId":"a1""#, "a1"),
  ])
  func `an id that Mixpanel ignores is no distinct id`(_ sample: (ids: String, id: String)) throws {
    var adapter = try Self.adapter()
    let item = try adapter.item(
      #"{"type":"track","event":"E","timestamp":1714564800,\#(sample.ids)}"#)
    #expect(item.contains("\"distinct_id\":\"\(sample.id)\""), "\(item)")
  }

  @Test func `old events keep their time, and ten minutes ahead are no hour`() throws {
    var adapter = try Self.adapter()
    let old = try adapter.item(
      #"{"type":"track","event":"E","userId":"u","timestamp":"2006-01-02T03:04:05.678Z"}"#)
    #expect(old.contains("\"time\":1136171045678,"))
    let ahead = Timestamp(nanoseconds: Sample.received.nanoseconds + 600_000_000_000)
    let soon = try adapter.item(
      #"{"type":"track","event":"E","userId":"u","timestamp":"\#(ahead.text)"}"#)
    #expect(soon.contains("\"time\":\(ahead.nanoseconds / 1_000_000),"))
    #expect(!soon.contains("original_timestamp"))
  }

  @Test func `an event of two hours ahead gets the time of its arrival and tells its own`() throws {
    var adapter = try Self.adapter()
    let ahead = Timestamp(nanoseconds: Sample.received.nanoseconds + 7_200_000_000_000)
    let item = try adapter.item(
      #"{"type":"track","event":"E","userId":"u","timestamp":"\#(ahead.text)"}"#)
    #expect(item.contains("\"time\":\(Sample.received.nanoseconds / 1_000_000),"))
    #expect(item.contains("\"original_timestamp\":\"\(ahead.text)\""))
  }

  static func members(_ count: Int) -> String {
    "{" + (0..<count).map { "\"k\($0)\":\($0)" }.joined(separator: ",") + "}"
  }

  static let limits: [(properties: String, isTaken: Bool)] = [
    // time, distinct_id, $insert_id and $user_id are four of the 254.
    (members(250), true), (members(251), false),
    (#"{"a":{"b":{"c":{"d":1}}}}"#, true), (#"{"a":{"b":{"c":{"d":{"e":1}}}}}"#, false),
    (#"{"a":[[[1]]]}"#, true), (#"{"a":[[[[1]]]]}"#, false),
    ("{\"a\":\(members(254))}", true), ("{\"a\":\(members(255))}", false),
    ("{\"a\":[\((0..<254).map(String.init).joined(separator: ","))]}", true),
    ("{\"a\":[\((0..<255).map(String.init).joined(separator: ","))]}", false),
    ("{\"a\":\"\(String(repeating: "x", count: 300))\"}", true),
  ]

  @Test(arguments: limits)
  func `what strict import refuses is refused before`(
    _ sample: (properties: String, isTaken: Bool)
  ) throws {
    var adapter = try Self.adapter()
    let reason = try adapter.refusal(Sample.track(with: #""properties":\#(sample.properties)"#))
    #expect((reason == nil) == sample.isTaken, "\(reason ?? "taken")")
  }

  @Test func `pages and screens are events, profiles are not`() throws {
    var adapter = try Self.adapter()
    let page = try adapter.item(
      #"{"type":"page","userId":"u","timestamp":1714564800,"name":"Home","properties":{"name":"x","a":1}}"#
    )
    #expect(page.hasPrefix(#"{"event":"Page Viewed","#))
    #expect(page.contains(#""name":"Home","a":1"#))
    for kind in ["identify", "group", "alias"] {
      let event = #"{"type":"\#(kind)","userId":"u","timestamp":1714564800,"groupId":"g"}"#
      #expect(try adapter.prepared(event).outcome == .skip)
    }
  }

  @Test(arguments: [
    (#"{"All":false}"#, false), (#"{"All":false,"Mixpanel":true}"#, true),
    (#"{"Mixpanel":false}"#, false), (#"{"All":false,"Mixpanel":{"a":1}}"#, true),
    (#"{"mixpanel":false}"#, true),
  ])
  func `an event says whether it goes`(_ sample: (integrations: String, goes: Bool)) throws {
    var adapter = try Self.adapter()
    let event = Sample.track(with: #""integrations":\#(sample.integrations)"#)
    #expect(try adapter.prepared(event).outcome == (sample.goes ? .ready : .skip))
  }

  @Test func `a request is a list with the login of the account`() throws {
    let call = try Self.adapter().call(
      [Array("{}".utf8), Array("{}".utf8)], sentAt: Sample.received)
    #expect(call.url == "http://127.0.0.1:1/import?strict=1&project_id=9")
    #expect(call.header("Authorization") == "Basic dXNlcjpzZWNyZXQ=")
    #expect(String(decoding: call.body, as: UTF8.self) == "[{},{}]")
    let token = MixpanelAdapter(
      MixpanelConfiguration(endpoint: try HTTPEndpoint("http://h"), credential: .token("t")))
    #expect(token.call([], sentAt: Sample.received).url == "http://h/import?strict=1")
    #expect(token.call([], sentAt: Sample.received).header("Authorization") == "Basic dDo=")
  }

  @Test(arguments: [(400, "insert_id"), (400, "$insert_id"), (200, "insert_id")])
  func `of an answer with a list the listed ones are refused`(_ status: Int, _ key: String) throws {
    let answer = #"""
      {"code":400,"error":"some data points in the request failed validation","status":"Bad Request",
      "num_records_imported":1,"failed_records":[{"index":1,"\#(key)":"x","field":"properties.time",
      "message":"'properties.time' is invalid"},{"index":7,"message":"beyond"}]}
      """#
    #expect(
      try Self.adapter().verdict(status, answer, count: 2)
        == .partial(refused: [1: "properties.time: 'properties.time' is invalid"]))
  }

  @Test func `other answers mean what they mean everywhere`() throws {
    let adapter = try Self.adapter()
    #expect(
      adapter.verdict(200, #"{"code":200,"num_records_imported":2,"status":"OK"}"#, count: 2)
        == .delivered)
    guard case .split = adapter.verdict(400, #"{"code":400,"error":"no"}"#, count: 2),
      case .configuration = adapter.verdict(401, #"{"error":"Invalid credentials"}"#, count: 2),
      case .tooLarge = adapter.verdict(413, "{}", count: 2),
      case .pause(nil, _) = adapter.verdict(429, "{}", count: 2),
      case .retry = adapter.verdict(502, "{}", count: 2)
    else {
      Issue.record("an answer is misread")
      return
    }
  }
}
