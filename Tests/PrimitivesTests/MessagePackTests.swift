import Primitives
import TestSupport
import Testing

@Suite struct MessagePackTests {
  static let integers: [(Int64, [UInt8])] = [
    (0, [0x00]), (127, [0x7F]), (128, [0xCC, 0x80]), (255, [0xCC, 0xFF]),
    (256, [0xCD, 1, 0]), (65_535, [0xCD, 255, 255]), (65_536, [0xCE, 0, 1, 0, 0]),
    (4_294_967_296, [0xCF, 0, 0, 0, 1, 0, 0, 0, 0]), (-1, [0xFF]), (-32, [0xE0]),
    (-33, [0xD0, 0xDF]), (-128, [0xD0, 0x80]), (-129, [0xD1, 0xFF, 0x7F]),
    (-32_769, [0xD2, 0xFF, 0xFF, 0x7F, 0xFF]),
    (.min, [0xD3, 0x80, 0, 0, 0, 0, 0, 0, 0]),
  ]

  @Test(arguments: Self.integers)
  func `an integer has the shortest form and reads back`(value: Int64, bytes: [UInt8]) throws {
    var writer = MessagePackWriter()
    writer.write(value)
    #expect(writer.bytes == bytes)
    var reader = unsafe MessagePackReader(writer.bytes.span.bytes)
    let read = try reader.readInt()
    #expect(read == value)
    let isAtEnd = reader.isAtEnd
    #expect(isAtEnd)
  }

  @Test(arguments: [0, 15, 16, 31, 32, 255, 256, 65_535, 65_536])
  func `texts and containers of each head read back`(count: Int) throws {
    var writer = MessagePackWriter()
    let text = String(repeating: "x", count: count)
    writer.write(text)
    let map = writer.beginMap()
    for index in 0..<count {
      writer.write("k")
      writer.write(index)
    }
    writer.end(map, count: count)
    var reader = unsafe MessagePackReader(writer.bytes.span.bytes)
    do {
      let value = try reader.readString()
      #expect(value == text)
    }
    do {
      let value = try reader.readMapHeader()
      #expect(value == count)
    }
    try reader.skip(values: count * 2)
    let isAtEnd = reader.isAtEnd
    #expect(isAtEnd)
  }

  @Test func `types are never mixed and ranges are kept`() throws {
    var writer = MessagePackWriter()
    writer.write(true)
    writer.write(UInt64.max)
    writer.write(1.0)
    let span = unsafe writer.bytes.span.bytes
    expectError(.wrongType, span, at: 0) { reader throws(MessagePackError) in
      _ = try reader.readInt()
    }
    expectError(.outOfRange, span, at: 1) { reader throws(MessagePackError) in
      _ = try reader.readInt()
    }
    expectError(.wrongType, span, at: 10) { reader throws(MessagePackError) in
      _ = try reader.readInt()
    }
    var reader = MessagePackReader(span, at: 1)
    do {
      let value = try reader.readUInt()
      #expect(value == .max)
    }
  }

  @Test func `every truncation is noticed and every count is doubted`() {
    let bytes = Self.sample()
    for length in 0..<bytes.count {
      let cut = Array(bytes[..<length])
      expectError(.truncated, unsafe cut.span.bytes, at: 0) { reader throws(MessagePackError) in
        try reader.skip()
      }
    }
    let huge: [UInt8] = [0xDD, 0xFF, 0xFF, 0xFF, 0xFF]
    expectError(.truncated, unsafe huge.span.bytes, at: 0) { reader throws(MessagePackError) in
      _ = try reader.readArrayHeader()
    }
  }

  @Test func `flipped and random bytes never trap or read outside`() {
    let bytes = Self.sample()
    for index in bytes.indices {
      for bit in 0..<8 {
        var flipped = bytes
        flipped[index] ^= 1 << bit
        walk(flipped)
      }
    }
    var random = SeededRandom(seed: 11)
    for _ in 0..<5000 {
      walk((0..<40).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    }
  }

  @Test func `a hundred thousand open arrays are skipped without a stack`() throws {
    let bytes = [UInt8](repeating: 0x91, count: 100_000) + [0xC0]
    var reader = unsafe MessagePackReader(bytes.span.bytes)
    try reader.skip()
    let isAtEnd = reader.isAtEnd
    #expect(isAtEnd)
  }

  @Test(.timeLimit(.minutes(5)))
  func `Python writes the same bytes and reads them`() throws {
    let script = """
      import sys
      try: import msgpack
      except ImportError: sys.exit(77)
      v = {"a": [1, -1, 255, -129, 2**32, 2**64-1, 1.5, True, False, None], "t": "h\\u00e9llo", \
      "m": {str(i): i for i in range(20)}, "b": b"xyz"}
      sys.stdout.buffer.write(msgpack.packb(v))
      """
    let run = try ChildProcess.run("/usr/bin/python3", ["-c", script])
    if run.status == .exited(77) {
      Issue.record("python3-msgpack is not installed, so nothing was compared", severity: .warning)
      return
    }
    #expect(run.output == Self.sample())
  }

  /// What the Python script above writes.
  private static func sample() -> [UInt8] {
    var writer = MessagePackWriter()
    writer.writeMapHeader(4)
    writer.write("a")
    writer.writeArrayHeader(10)
    for value in [1, -1, 255, -129, 4_294_967_296] { writer.write(value) }
    writer.write(UInt64.max)
    writer.write(1.5)
    writer.write(true)
    writer.write(false)
    writer.writeNil()
    writer.write("t")
    writer.write("h\u{E9}llo")
    writer.write("m")
    let map = writer.beginMap()
    for index in 0..<20 {
      writer.write("\(index)")
      writer.write(index)
    }
    writer.end(map, count: 20)
    writer.write("b")
    let binary = Array("xyz".utf8)
    unsafe writer.writeBinary(binary.span.bytes)
    return writer.bytes
  }

  private func walk(_ bytes: [UInt8]) {
    var reader = unsafe MessagePackReader(bytes.span.bytes)
    do throws(MessagePackError) {
      while !reader.isAtEnd { try reader.skip() }
      let position = reader.position
      #expect(position == bytes.count)
    } catch {
      #expect(error.position <= bytes.count)
    }
  }

  private func expectError(
    _ kind: MessagePackError.Kind, _ bytes: RawSpan, at position: Int,
    _ body: (inout MessagePackReader) throws(MessagePackError) -> Void
  ) {
    var reader = MessagePackReader(bytes, at: position)
    do throws(MessagePackError) {
      try body(&reader)
      Issue.record("no error, where \(kind) was expected")
    } catch {
      #expect(error.kind == kind)
    }
  }
}
