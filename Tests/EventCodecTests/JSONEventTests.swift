import EventCodec
import EventModel
import Primitives
import Testing

private let received: Int64 = 1_800_000_000_000_000_000

@Suite struct JSONEventTests {
  @Test(arguments: [
    #"{"x":01}"#, #"{"x":+1}"#, #"{"x":.5}"#, #"{"x":1.}"#, #"{"x":0x10}"#, #"{"x":1e}"#,
    #"{"x":NaN}"#, #"{"x":-Infinity}"#, #"{"x":1_000}"#, #"{"x":18446744073709551616}"#,
    #"{"x":1e400}"#, #"{"x":"\ud83d end"}"#, #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, "[]", "5",
  ])
  func `properties that are no strict JSON are refused`(properties: String) {
    #expect(throws: CodecError.self) {
      try convert(#"{"event":"E","properties":\#(properties)}"#)
    }
  }

  @Test(arguments: [
    #"{"type":"track","event":"","properties":{}}"#, #"{"type":"track","event":"   "}"#,
    #"{"type":"track"}"#, #"{"type":"track","event":null}"#, #"{"type":"track","event":5}"#,
    #"{"type":"track","event":["a"]}"#, "[1,2,3]", "42", "null", "{}", "{'event':'x'}",
    #"{"event":"Trailing Comma","userId":"u1",}"#, #"{"type":"track","event":"Step""#,
    #"{"event":"Nul\u0000Inside"}"#, #"{"event":"$page"}"#, "{\"event\":\"Bad \u{1} Name\"}",
  ])
  func `a line that is no event is refused`(line: String) {
    #expect(throws: CodecError.self) { try convert(line) }
  }

  @Test func `numbers, bools and nulls come out as they went in, fields in canonical order`() throws
  {
    let json = try convert(
      #"{"zz":1,"properties":{"l":[true,1,1.0,-0.0,"1",null,18446744073709551615,"#
        + #"-9223372036854775808,9007199254740993,1e2,"\u0000"]},"messageId":"m","#
        + #""timestamp":"2024-05-01T12:00:00Z","userId":null,"event":"E"}"#)
    #expect(
      json.hasPrefix(#"{"type":"track","event":"E","messageId":"m","userId":null,"timestamp":"#))
    #expect(
      json.contains(
        #""l":[true,1,1.0,-0.0,"1",null,18446744073709551615,-9223372036854775808,"#
          + #"9007199254740993,100.0,"\u0000"]"#))
    #expect(json.hasSuffix(#","zz":1}"#))
  }

  @Test(arguments: ["true", "{}", "0", "-1", "\"yesterday\"", "20240501", "99999999999"])
  func `a time that cannot be read costs the event its time and never its life`(
    time: String
  ) throws {
    let json = try convert(#"{"event":"E","messageId":"m","timestamp":\#(time)}"#)
    #expect(json.contains(#""timestamp":"2027-01-15T08:00:00.000Z""#))
    #expect(json.contains(#""timestampFlag":"unreadable""#))
  }

  @Test(arguments: [(32, true), (33, false), (20_000, false)])
  func `one limit of depth holds`(depth: Int, isTaken: Bool) {
    let value =
      String(repeating: #"{"k":"#, count: depth) + "1" + String(repeating: "}", count: depth)
    let line = #"{"event":"Deep","properties":{"d":\#(value)}}"#
    #expect((try? convert(line)) != nil || !isTaken)
    if !isTaken { #expect(throws: CodecError.self) { try convert(line) } }
  }

  @Test func `every truncation is refused and no flipped bit traps`() throws {
    let line = Array(#"{"event":"E","properties":{"a":[1,2.5,"\u00e9x"],"b":null}}"#.utf8)
    for length in 0..<line.count {
      #expect(throws: CodecError.self) { try convert(Array(line[..<length])) }
    }
    for index in line.indices {
      for bit in 0..<8 {
        var flipped = line
        flipped[index] ^= 1 << bit
        do { _ = try convert(flipped) } catch { #expect(error is CodecError) }
      }
    }
  }

  @Test func `conditions compare values with their types`() throws {
    let line =
      #"{"event":"E","userId":"u1","properties":{"plan":"pro","n":5,"on":true,"l":["a",2]}}"#
    var reader = JSONEventReader()
    var payload: [UInt8] = []
    let bytes = Array(line.utf8)
    _ = try unsafe reader.read(bytes.span.bytes, received: received, into: &payload)
    for condition in [
      "properties.plan=pro", "properties.plan=\"pro\"", "userId=u1", "properties.n>=5",
      "properties.n=5.0", "properties.n<6", "properties.plan~ro", "properties.l~a",
      "properties.l.1=2", "properties.on=true", "properties.on!=1", "properties.none=null",
      "properties.none!=x", "timestamp<2030-01-01",
    ] {
      #expect(try unsafe WhereClause(condition).matches(payload.span.bytes), "\(condition)")
    }
    for condition in [
      "properties.plan=free", "properties.n=\"5\"", "properties.on=1", "properties.none=x",
      "properties.n>5", "properties.plan>5", "userId~x",
    ] {
      #expect(try unsafe !WhereClause(condition).matches(payload.span.bytes), "\(condition)")
    }
    for slip in ["plan", "properties.plan==pro", "properties.plan!==pro"] {
      #expect(throws: WhereClause.SyntaxError.self) { try WhereClause(slip) }
    }
    #expect(throws: Never.self) { try WhereClause("properties.code=\"=1\"") }
  }

  @discardableResult
  private func convert(_ line: String) throws -> String { try convert(Array(line.utf8)) }

  @discardableResult
  private func convert(_ line: [UInt8]) throws -> String {
    var reader = JSONEventReader()
    var payload: [UInt8] = []
    let topic = try unsafe reader.read(line.span.bytes, received: received, into: &payload)
    try unsafe PayloadWalker.check(payload.span.bytes, name: topic.span.bytes, maximumDepth: 33)
    var json: [UInt8] = []
    try unsafe CanonicalJSON.append(payload.span.bytes, to: &json)
    return String(decoding: json, as: UTF8.self)
  }
}
