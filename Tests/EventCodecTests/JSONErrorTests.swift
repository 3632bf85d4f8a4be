import EventCodec
import EventModel
import Primitives
import Testing

@Suite struct JSONErrorTests {
  static let faults: [(String, CodecError.Reason, Int)] = [
    ("", .empty, 0), ("  ", .empty, 2), ("{", .cutOff, 1), (#"{"event":"E"} x"#, .trailing, 14),
    ("[1]", .notAnObject, 0), ("5", .notAnObject, 0), ("x", .syntax, 0),
    (#"{"a":01}"#, .number, 5), (#"{"a":-}"#, .number, 5), (#"{"a":1.}"#, .number, 5),
    (#"{"a":1e}"#, .number, 5), (#"{"a":NaN}"#, .number, 5), (#"{"a":1e999}"#, .numberTooLarge, 5),
    (#"{"a":18446744073709551616}"#, .numberTooLarge, 5),
    (#"{"a":-9223372036854775809}"#, .numberTooLarge, 5),
    ("{\"a\":\"x\u{1}\"}", .controlCharacter, 7), (#"{"a":"\x"}"#, .escape, 6),
    (#"{"a":"\u12g4"}"#, .escape, 10), (#"{"a":"\ud800"}"#, .surrogate, 6),
    (#"{"a":"\udc00"}"#, .surrogate, 6), (#"{"a":"\ud800\u0041"}"#, .surrogate, 6),
    (#"{"a":1,"a":2}"#, .duplicateKey, 7), (#"{"userId":"u","userId":"v"}"#, .duplicateKey, 14),
    (#"{"a":{"b":1,"b":2}}"#, .duplicateKey, 5), (#"{"a":1,}"#, .syntax, 7),
    (#"{"a" 1}"#, .syntax, 5), (#"{"a":tru}"#, .syntax, 5), (#"{a:1}"#, .syntax, 1),
    (#"{"type":"other","event":"E"}"#, .type, 8), (#"{"type":5}"#, .type, 8),
    (#"{"userId":"u"}"#, .noEvent, 0), (#"{"event":7}"#, .noEvent, 9),
    (#"{"event":"  "}"#, .eventName, 9), (#"{"event":"E\u0000"}"#, .eventName, 9),
    (#"{"event":"E","userId":{}}"#, .fieldType, 22),
    (#"{"event":"E","messageId":5}"#, .fieldType, 25),
    (#"{"event":"E","properties":5}"#, .fieldType, 26),
  ]

  @Test(arguments: Self.faults)
  func `each fault is named with its place`(
    line: String, reason: CodecError.Reason, position: Int
  ) {
    do throws(CodecError) {
      _ = try CodecSamples.payload(ofJSON: Array(line.utf8))
      Issue.record("\(line) was read")
    } catch {
      #expect(error.reason == reason, "\(line): \(error)")
      #expect(error.position == position, "\(line): \(error)")
    }
  }

  @Test(
    arguments: [
      ([0xFF], 0), ([0x41, 0xC3, 0x28], 1), ([0xED, 0xA0, 0x80], 0), ([0xC0, 0x80], 0),
      ([0xF4, 0x90, 0x80, 0x80], 0), ([0xE2, 0x82], 0),
    ] as [([UInt8], Int)])
  func `text that is not UTF-8 is refused where it breaks`(bytes: [UInt8], offset: Int) {
    let line = Array(#"{"event":"E","properties":{"a":""#.utf8) + bytes + Array("\"}}".utf8)
    do throws(CodecError) {
      _ = try CodecSamples.payload(ofJSON: line)
      Issue.record("\(bytes) was read")
    } catch {
      #expect(error.reason == .notUTF8)
      #expect(error.position == 32 + offset)
    }
  }

  @Test func `what one entrance wrote another reads as the same event`() throws {
    var values =
      #""none":null,"on":true,"one":1,"real":1.0,"text":"\u00e9\ud83d\ude00\u2028\u0000","#
    values += #""low":-9223372036854775808,"high":18446744073709551615,"tiny":5e-324,"l":[[],{}]"#
    for index in 0..<40 {
      values += ",\"k\(index)\":[\(Array(repeating: "1", count: index * 2).joined(separator: ","))]"
    }
    let line =
      #"{"event":"E","messageId":"m","timestamp":"2024-05-01T12:00:00Z","properties":{\#(values)}}"#
    let payload = try CodecSamples.payload(ofJSON: Array(line.utf8))
    let json = try CodecSamples.json(payload)
    #expect(try CodecSamples.payload(ofJSON: Array(json.utf8)) == payload)
    let envelope = try unsafe EventEnvelope(payload: payload.span.bytes)
    var again: [UInt8] = []
    envelope.appendPayload(to: &again)
    #expect(again == payload)
    #expect(try CodecSamples.payload(ofPlain: payload, name: Array("E".utf8)) == payload)
  }

  @Test func `the largest growth of JSON fits and so do heads of every length`() throws {
    for count in [1, 15, 16, 17, 1000, 65_535, 65_536] {
      let numbers = Array(repeating: "1e0", count: count).joined(separator: ",")
      let line = #"{"event":"E","messageId":"m","timestamp":1,"properties":{"l":[\#(numbers)]}}"#
      var reader = JSONEventReader(limits: CodecLimits(eventBytes: 4 << 20))
      var payload: [UInt8] = []
      let bytes = Array(line.utf8)
      _ = try unsafe reader.read(bytes.span.bytes, received: 0, into: &payload)
      let envelope = try unsafe EventEnvelope(payload: payload.span.bytes)
      #expect(envelope.properties?["l"] == .array(Array(repeating: 1.0, count: count)))
    }
  }
}
