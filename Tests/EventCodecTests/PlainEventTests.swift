import EventCodec
import EventModel
import Primitives
import Testing

@Suite struct PlainEventTests {
  private static let name = Array("E".utf8)

  static let good: [(String, String)] = [
    (#"{"plan":"pro"}"#, #""properties":{"plan":"pro"}}"#),
    (#"{"type":"special","properties":1}"#, #""properties":{"type":"special","properties":1}}"#),
    (#"{"type":"track"}"#, #""properties":{"type":"track"}}"#),
    (#"{"type":"track","properties":{"a":1}}"#, #""properties":{"a":1}}"#),
    (#"{"b":1,"name":2,"a":3}"#, #""properties":{"b":1,"name":2,"a":3}}"#),
    ("{}", #""properties":{}}"#),
  ]

  @Test(arguments: Self.good)
  func `JSON is an envelope or the properties`(payload: String, end: String) throws {
    let output = try CodecSamples.payload(ofPlain: Array(payload.utf8), name: Self.name)
    let json = try CodecSamples.json(output)
    #expect(json.hasPrefix(#"{"type":"track","event":"E","messageId":""#))
    #expect(json.hasSuffix(end), "\(json)")
  }

  @Test func `a NUL behind the name is taken off and one inside is refused`() throws {
    let output = try CodecSamples.payload(ofPlain: Array("{}".utf8), name: Self.name + [0])
    #expect(try CodecSamples.json(output).contains(#""event":"E""#))
    expect(.eventName, Array("{}".utf8), name: [0x41, 0, 0x42])
    expect(.eventName, Array("{}".utf8), name: [0])
  }

  @Test func `an envelope under another name is refused, and so is nothing`() {
    expect(.otherName, Array(#"{"type":"track","event":"F","properties":{}}"#.utf8))
    expect(.otherName, Array(#"{"type":"page","properties":{}}"#.utf8))
    expect(.empty, [])
    expect(.syntax, [0x93, 1, 2, 3])
  }

  /// `n` keys `k0`..., and `k0` once more.
  private func twice(_ keys: Int) -> [UInt8] {
    var writer = MessagePackWriter()
    writer.writeMapHeader(keys + 1)
    for index in 0..<keys {
      writer.write("k\(index)")
      writer.write(index)
    }
    writer.write("k0")
    writer.writeNil()
    return writer.bytes
  }

  @Test(arguments: [1, 11, 12, 13, 500])
  func `a key that stands twice in any MessagePack map is refused`(keys: Int) throws {
    expect(.duplicateKey, twice(keys))
    var nested = MessagePackWriter()
    nested.writeMapHeader(1)
    nested.write("list")
    nested.writeArrayHeader(2)
    nested.writeNil()
    nested.bytes += twice(keys)
    expect(.duplicateKey, nested.bytes)
  }

  @Test func `an envelope that has a field twice is refused by every decoder`() throws {
    var writer = MessagePackWriter()
    writer.writeMapHeader(5)
    for text in ["type", "track", "event", "E", "messageId", "a", "messageId", "b", "zz", "c"] {
      writer.write(text)
    }
    expect(.duplicateKey, writer.bytes)
    for bytes in [writer.bytes, twice(20)] {
      do throws(CodecError) {
        _ = try unsafe EventEnvelope(payload: bytes.span.bytes)
        Issue.record("read")
      } catch {
        #expect(error.reason == .duplicateKey)
      }
    }
  }

  @Test(arguments: [(32, true), (33, false), (60_000, false)])
  func `MessagePack has the same limit of depth`(depth: Int, isTaken: Bool) throws {
    var writer = MessagePackWriter()
    writer.writeMapHeader(1)
    writer.write("d")
    writer.bytes += Array(repeating: 0x91, count: depth) + [1]
    if isTaken {
      let output = try CodecSamples.payload(ofPlain: writer.bytes, name: Self.name)
      #expect(try unsafe EventEnvelope(payload: output.span.bytes).properties != nil)
    } else {
      expect(.tooDeep, writer.bytes)
    }
  }

  private func expect(
    _ reason: CodecError.Reason, _ payload: [UInt8], name: [UInt8] = Self.name,
    _ location: SourceLocation = #_sourceLocation
  ) {
    do throws(CodecError) {
      _ = try CodecSamples.payload(ofPlain: payload, name: name)
      Issue.record("it was read", sourceLocation: location)
    } catch {
      #expect(error.reason == reason, "\(error)", sourceLocation: location)
    }
  }
}
