import Archive
import BusProtocol
import EventCodec
import EventModel
import Foundation
import Primitives
import Testing

struct ReplayReaderTests {
  private static let place = Position(epoch: 3, offset: 1_234_567)

  private func payload(_ json: String) throws -> [UInt8] {
    var reader = JSONEventReader()
    var payload: [UInt8] = []
    _ = try unsafe reader.read(
      Array(json.utf8).span.bytes, received: 1_500_000_000_000_000_001, into: &payload)
    return payload
  }

  private func line(_ payload: [UInt8]) throws -> [UInt8] {
    var line: [UInt8] = []
    let own = CanonicalJSON.Additions(
      offset: Self.place.offset, epoch: Self.place.epoch, receivedAt: 1_700_000_000_123_456_789)
    try unsafe CanonicalJSON.append(payload.span.bytes, own, to: &line)
    return line
  }

  private static func without(_ text: String, _ line: [UInt8]) -> String {
    String(decoding: line, as: UTF8.self).replacingOccurrences(of: text, with: "")
  }

  @Test(arguments: [
    #"{"type":"track","event":"A","messageId":"m","timestamp":"2006-01-02T03:04:05.678Z"}"#,
    #"{"event":"A","messageId":"m","timestamp":"2006-01-02T03:04:05+02:00","sentAt":"x"}"#,
    #"{"event":"A","messageId":"m","timestamp":"no time","properties":{}}"#,
    #"{"event":"A","messageId":"m","timestamp":1714564800.5,"properties":null}"#,
    #"{"event":"A","messageId":"m","properties":{"a":18446744073709551615,"b":-9223372036854775808,"#
      + #""c":1.0,"d":1,"e":true,"f":-0.0,"g":1e300,"h":9007199254740993,"i":[1,[2]],"j":{"k":null}}}"#,
    #"{"type":"identify","messageId":"m","userId":42,"anonymousId":null,"traits":{"a":"é \u0000 \"/"}}"#,
    #"{"type":"page","messageId":"m","name":"n","category":"c","context":{"ip":"1"},"mine":[1]}"#,
    #"{"event":"A","messageId":"m","receivedAt":"2020-01-01T00:00:00.000Z","integrations":{"All":false}}"#,
    // Fields of its own that are called as the archive's are.
    #"{"event":"A","messageId":"m","mine":1,"properties":{"offset":1,"epoch":2}}"#,
  ])
  func `an event is made again as it was`(_ json: String) throws {
    let first = try line(payload(json))
    var reader = ReplayReader(archive: [1])
    #expect(try unsafe reader.read(first.span.bytes) == Self.place)
    let second = try line(reader.payload)
    // The archive puts the time of receipt behind an event that had none; now it is the event's own.
    let time = #","receivedAt":"2023-11-14T22:13:20.123456789Z""#
    #expect(Self.without(time, second) == Self.without(time, first))
    #expect(second.count == first.count)
    let name = String(decoding: reader.topic, as: UTF8.self)
    #expect(["A", "$identify", "$page"].contains(name))
    try unsafe PayloadWalker.check(reader.payload.span.bytes, name: reader.topic.span.bytes)
  }

  @Test(arguments: [0, 1, -1, -9_000_000_000_000_000_000, 31_535_999_999_999_999] as [Int64])
  func `a time that no text input may have is kept too`(_ time: Int64) throws {
    for original in [nil, "as given"] as [String?] {
      var envelope = EventEnvelope(EventType("A"))
      envelope.messageId = "m"
      envelope.timestamp = Timestamp(nanoseconds: time)
      envelope.originalTimestamp = original
      var payload: [UInt8] = []
      envelope.appendPayload(to: &payload)
      let first = try line(payload)
      var reader = ReplayReader(archive: [1])
      _ = try unsafe reader.read(first.span.bytes)
      let again = try unsafe EventEnvelope(payload: reader.payload.span.bytes)
      #expect(again.timestamp == envelope.timestamp)
      #expect(again.originalTimestamp == original)
      #expect(again[.timestampFlag] == nil)
    }
  }

  @Test func `an event without an id gets the same one each time`() throws {
    let line = Array(
      #"{"type":"track","event":"A","timestamp":"2006-01-02T03:04:05.678Z","offset":5,"epoch":1}"#
        .utf8)
    var payloads: Set<[UInt8]> = []
    for key in [1, 1, 2] as [UInt8] {
      var reader = ReplayReader(archive: [key])
      #expect(try unsafe reader.read(line.span.bytes) == Position(epoch: 1, offset: 5))
      payloads.insert(reader.payload)
    }
    #expect(payloads.count == 2)
  }

  @Test(arguments: [
    "", "{}", #"{"event":"A"}"#, #"{"event":"A","offset":1}"#,
    #"{"event":"A","epoch":1,"offset":1}"#,
    #"{"event":"","offset":1,"epoch":1}"#, #"{"event":"A","event":"B","offset":1,"epoch":1}"#,
    #""offset":1,"epoch":1}"#, #","offset":1,"epoch":1}"#, #"{,"offset":1,"epoch":1}"#,
  ])
  func `what is no line of an archive is refused`(_ text: String) {
    let line = Array(text.utf8)
    var reader = ReplayReader(archive: [])
    #expect(throws: CodecError.self) { try unsafe reader.read(line.span.bytes) }
  }
}
