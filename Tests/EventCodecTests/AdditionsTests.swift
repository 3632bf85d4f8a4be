import EventCodec
import Testing

@Suite struct AdditionsTests {
  @Test func `fields that are added take the place of the event's own`() throws {
    let payload = try CodecSamples.payload(
      ofJSON: Array(
        #"{"event":"E","messageId":"m","timestamp":"2024-05-01T12:00:00.000Z","offset":1,"epoch":{"a":2},"x":3}"#
          .utf8))
    func json(_ additions: CanonicalJSON.Additions) throws -> String {
      var json: [UInt8] = []
      try unsafe CanonicalJSON.append(payload.span.bytes, additions, to: &json)
      return String(decoding: json, as: UTF8.self)
    }
    let head =
      #"{"type":"track","event":"E","messageId":"m","timestamp":"2024-05-01T12:00:00.000Z","#
    #expect(try json(.init()) == head + #""offset":1,"epoch":{"a":2},"x":3}"#)
    #expect(try json(.init(offset: 7)) == head + #""epoch":{"a":2},"x":3,"offset":7}"#)
    #expect(try json(.init(offset: 7, epoch: 8)) == head + #""x":3,"offset":7,"epoch":8}"#)
  }
}
