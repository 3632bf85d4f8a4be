import EventCodec
import Primitives

/// Ways in and out of the codec, for tests that look at results only.
enum CodecSamples {
  static let received: Int64 = 1_800_000_000_000_000_000

  static func payload(ofJSON line: [UInt8]) throws(CodecError) -> [UInt8] {
    var reader = JSONEventReader()
    var payload: [UInt8] = []
    _ = try unsafe reader.read(line.span.bytes, received: received, into: &payload)
    return payload
  }

  static func payload(ofPlain payload: [UInt8], name: [UInt8]) throws(CodecError) -> [UInt8] {
    var reader = PlainEventReader()
    var output: [UInt8] = []
    _ = try unsafe reader.read(
      name: name.span.bytes, payload: payload.span.bytes, received: received, into: &output)
    return output
  }

  static func json(_ payload: [UInt8]) throws(CodecError) -> String {
    var json: [UInt8] = []
    try unsafe CanonicalJSON.append(payload.span.bytes, to: &json)
    return String(decoding: json, as: UTF8.self)
  }
}
