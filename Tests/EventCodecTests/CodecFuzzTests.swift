import EventCodec
import EventModel
import Primitives
import Testing

@Suite struct CodecFuzzTests {
  private static let line = Array(
    (#"{"type":"track","event":"E","messageId":"m","timestamp":"2024-05-01T12:00:00Z","#
      + #""properties":{"a":[1,-2.5e3,"\u00e9x"],"b":null,"c":{"d":true,"e":18446744073709551615}}}"#)
      .utf8)

  @Test func `no change to an event makes any decoder trap, and what one takes the next takes`()
    throws
  {
    var random = SeededRandom(seed: 20_261_130)
    let payload = try CodecSamples.payload(ofJSON: Self.line)
    var taken = 0
    for round in 0..<5000 {
      let source = round % 2 == 0 ? Self.line : payload
      let bytes = changed(source, &random)
      if let output = attempt({ () throws(CodecError) in try CodecSamples.payload(ofJSON: bytes) })
      {
        taken += 1
        try expectWhole(output)
      }
      if let output = attempt({ () throws(CodecError) in
        try CodecSamples.payload(ofPlain: bytes, name: [0x45])
      }) {
        taken += 1
        try expectWhole(output)
      }
      _ = attempt { () throws(CodecError) in try unsafe EventEnvelope(payload: bytes.span.bytes) }
      _ = attempt { () throws(CodecError) in try CodecSamples.json(bytes) }
    }
    // Not all changes break an event, or nothing was tried.
    #expect(taken > 100)
  }

  private func changed(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
    var bytes = bytes
    for _ in 0...(random.next() % 3) {
      let index = Int(random.next() % UInt64(bytes.count))
      switch random.next() % 4 {
      case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
      case 1: bytes[index] ^= 1 << UInt8(random.next() % 8)
      case 2: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: index)
      default: bytes.removeLast(min(bytes.count - 1, Int(random.next() % 4)))
      }
    }
    return bytes
  }

  /// What an entrance took is an event for everybody behind it.
  private func expectWhole(_ payload: [UInt8]) throws {
    let envelope = try unsafe EventEnvelope(payload: payload.span.bytes)
    let topic = Array(envelope.topic.utf8)
    try unsafe PayloadWalker.check(payload.span.bytes, name: topic.span.bytes)
    let json = try CodecSamples.json(payload)
    _ = try CodecSamples.payload(ofJSON: Array(json.utf8))
  }

  private func attempt<T>(_ body: () throws(CodecError) -> T) -> T? {
    do throws(CodecError) { return try body() } catch { return nil }
  }
}
