import Foundation
import Testing

@testable import EventModel

/// Property values through coders.
struct PropertyValueCodableTests {
  /// A typed event that carries values it does not know.
  struct Open: Codable {
    var values: [PropertyValue]
    var object: PropertyObject
  }

  static let values: [PropertyValue] = [
    nil, true, false, 0, 1, -7, .int(.max), .int(.min), .uint(.max), 1.5, -0.25, "", "1",
    "Zürich 🎮",
    [], [nil, [1]], [:], ["a": ["b": [true]]],
  ]

  @Test(arguments: values) func `a value comes back from JSON as it was`(_ value: PropertyValue)
    throws
  {
    let data = try JSONEncoder().encode([value])
    #expect(try JSONDecoder().decode([PropertyValue].self, from: data) == [value])
  }

  @Test func `our own coder keeps whole doubles apart from integers`() throws {
    let open = Open(values: [1, 1.0, true, "1"], object: ["d": 2.0, "i": 2])
    var writer = PropertyWriter()
    try PropertyEncoder.encode(open, into: &writer)
    let bytes = [0x80 | UInt8(writer.count)] + writer.output.bytes
    let back = try PropertyDecoder.decode(
      Open.self, from: unsafe PropertyReader(bytes.span.bytes))
    #expect(back.values == open.values)
    #expect(back.object["d"] == 2.0 && back.object["i"] == 2)
  }

  @Test(arguments: [Double.nan, .infinity]) func `what has no JSON becomes null`(_ value: Double)
    throws
  {
    #expect(
      String(decoding: try JSONEncoder().encode([PropertyValue.double(value)]), as: UTF8.self)
        == "[null]")
  }

  @Test func `a number that a Float cannot hold is refused, as one that an Int8 cannot`() throws {
    // {"v": 1e300}
    let bytes: [UInt8] = [0x81, 0xA1, 0x76, 0xCB, 0x7E, 0x37, 0xE4, 0x3C, 0x88, 0, 0x75, 0x9C]
    struct Narrow: Codable { var v: Float }
    struct Wide: Codable { var v: Double }
    let wide = try PropertyDecoder.decode(Wide.self, from: unsafe PropertyReader(bytes.span.bytes))
    #expect(wide.v == 1e300)
    #expect(throws: EventDecodingError.self) {
      try PropertyDecoder.decode(Narrow.self, from: unsafe PropertyReader(bytes.span.bytes))
    }
  }
}
