import BusProtocol
import Primitives
import Testing

struct BatchBuilderTests {
  @Test func `a builder used again does not take names for those of the last batch`() throws {
    var builder = BatchBuilder()
    let (first, second) = (Array("first".utf8), Array("second".utf8))
    for _ in 0..<2 {
      // The name in both of the forms in which it may be given.
      builder.payloads.append(1)
      unsafe builder.append(name: second.span.bytes)
      builder.payloads.append(2)
      builder.append(name: first)
      var bytes: [UInt8] = []
      builder.build(into: &bytes)
      let content = try unsafe BatchContent(reading: bytes.span.bytes)
      #expect(content.events.map(\.name) == [second, first])
      // The next batch begins with the other one.
      builder.payloads.append(3)
      builder.append(name: first)
      bytes = []
      builder.build(into: &bytes)
      #expect(try unsafe BatchContent(reading: bytes.span.bytes).events.map(\.name) == [first])
    }
  }
}
