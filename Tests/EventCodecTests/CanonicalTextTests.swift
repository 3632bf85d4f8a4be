import EventCodec
import Primitives
import Testing

/// Numbers and texts as canonical JSON writes them, held to plainer ways of writing them.
@Suite struct CanonicalTextTests {
  static func json(_ write: (inout MessagePackWriter) -> Void) throws -> String {
    var writer = MessagePackWriter()
    write(&writer)
    var output: [UInt8] = []
    try unsafe CanonicalJSON.append(value: writer.bytes.span.bytes, to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  @Test func `every double is the shortest text that reads back the same`() throws {
    var random = SeededRandom(seed: 5)
    var values: [Double] = [
      0, -0.0, 0.01, 0.07, -0.1, 1, -1, 100, 12.5, 1e11, 1e13, 1e16, 1e100, .leastNonzeroMagnitude,
      .greatestFiniteMagnitude, 99_999_999_999.99, 0.3, 0.1 + 0.2, 1e-5,
    ]
    for _ in 0..<1000 {
      values.append(Double(Int64.random(in: -2_000_000...2_000_000, using: &random)) / 100)
      values.append(
        Double(Int64.random(in: -1_000_000_000_000...1_000_000_000_000, using: &random)) / 100)
      values.append(Double.random(in: -10...10, using: &random))
      let any = Double(bitPattern: random.next())
      if any.isFinite { values.append(any) }
    }
    for value in values {
      let text = try Self.json { $0.write(value) }
      #expect(text == "\(value)")
    }
  }

  @Test func `integers of every length keep their digits`() throws {
    var random = SeededRandom(seed: 6)
    for shift in 0..<64 {
      for value in [UInt64(1) << shift, (UInt64(1) << shift) &- 1, random.next() >> shift] {
        #expect(try Self.json { $0.write(value) } == "\(value)")
        let signed = Int64(bitPattern: value)
        #expect(try Self.json { $0.write(signed) } == "\(signed)")
      }
    }
    for power in 0..<20 {
      let ten = (0..<power).reduce(UInt64(1)) { value, _ in value * 10 }
      for value in [ten, ten - 1] { #expect(try Self.json { $0.write(value) } == "\(value)") }
    }
  }

  @Test func `a time beyond what a time can be stands as its number`() throws {
    // The broker lets it pass, so no sink may stumble over it.
    var writer = MessagePackWriter()
    writer.writeMapHeader(3)
    writer.write("type", "track")
    writer.write("event", "A")
    writer.write("timestamp")
    writer.write(UInt64(1) << 63)
    try unsafe PayloadWalker.check(writer.bytes.span.bytes, name: Array("A".utf8).span.bytes)
    var output: [UInt8] = []
    try unsafe CanonicalJSON.append(writer.bytes.span.bytes, to: &output)
    let text = String(decoding: output, as: UTF8.self)
    #expect(text == #"{"type":"track","event":"A","timestamp":9223372036854775808}"#)
  }

  /// One character at a time.
  static func plainly(_ text: String) -> String {
    var output = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": output += "\\\""
      case "\\": output += "\\\\"
      case "\n": output += "\\n"
      case "\r": output += "\\r"
      case "\t": output += "\\t"
      case "\u{8}": output += "\\b"
      case "\u{C}": output += "\\f"
      case _
      where scalar.value < 0x20 || scalar.value == 0x7F || (0x2028...0x2029).contains(scalar.value):
        let digits = String(scalar.value, radix: 16)
        output += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: output.unicodeScalars.append(scalar)
      }
    }
    return output + "\""
  }

  @Test func `what must be escaped is, at every place of texts of every length`() throws {
    let special: [Unicode.Scalar] = [
      "\"", "\\", "\n", "\u{0}", "\u{1F}", "\u{7F}", "\u{2028}", "\u{2029}", "\u{2027}", "é", "😀",
      "€",
    ]
    for length in 0..<20 {
      let plain = String(repeating: "a", count: length)
      #expect(try Self.json { $0.write(plain) } == Self.plainly(plain))
      for place in 0...length {
        for scalar in special {
          let text =
            String(plain.prefix(place)) + String(Character(scalar))
            + String(plain.dropFirst(place)) + String(Character(scalar))
          #expect(try Self.json { $0.write(text) } == Self.plainly(text))
        }
      }
    }
  }
}
