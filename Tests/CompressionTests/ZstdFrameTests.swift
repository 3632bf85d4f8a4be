import Compression
import Testing

@Suite struct ZstdFrameTests {
  private func file(_ blocks: [[UInt8]]) throws -> (bytes: [UInt8], starts: [Int]) {
    var writer = try ZstdFrameWriter()
    var (bytes, starts): ([UInt8], [Int]) = ([], [])
    for block in blocks {
      starts.append(bytes.count)
      try unsafe writer.compress(block.span.bytes, into: &bytes)
    }
    return (bytes, starts)
  }

  private func read(_ bytes: [UInt8], at offset: Int, limit: Int = 1 << 20) throws -> ([UInt8], Int)
  {
    var reader = try ZstdFrameReader()
    var content: [UInt8] = []
    let end = try unsafe reader.read(bytes.span.bytes, at: offset, into: &content, limit: limit)
    return (content, end)
  }

  static let blocks: [[UInt8]] = [
    Array("first".utf8), [], Array(repeating: 7, count: 300_000), Array(0...255),
  ]

  @Test func `each frame gives its block and the place of the next`() throws {
    let (bytes, starts) = try file(Self.blocks)
    var at = 0
    for (block, start) in zip(Self.blocks, starts) {
      #expect(at == start)
      let (content, end) = try read(bytes, at: at)
      #expect(content == block)
      at = end
    }
    #expect(at == bytes.count)
  }

  @Test func `content is appended behind what is there`() throws {
    let (bytes, _) = try file([[1, 2, 3]])
    var reader = try ZstdFrameReader()
    var content: [UInt8] = [9]
    _ = try unsafe reader.read(bytes.span.bytes, at: 0, into: &content, limit: 10)
    #expect(content == [9, 1, 2, 3])
  }

  @Test func `a frame larger than the limit is refused`() throws {
    let (bytes, _) = try file([Array(repeating: 1, count: 1000)])
    #expect(throws: CompressionError.limit(bytes: 999)) { try read(bytes, at: 0, limit: 999) }
    #expect(try read(bytes, at: 0, limit: 1000).0.count == 1000)
  }

  @Test func `a cut frame gives nothing, wherever it is cut`() throws {
    let (bytes, _) = try file([Array("some text that is long enough to be compressed".utf8)])
    for count in 0..<bytes.count {
      #expect(throws: CompressionError.self) { try read(Array(bytes[..<count]), at: 0) }
    }
  }

  @Test func `a flipped byte never gives other content`() throws {
    let block = Array(#"{"event":"Game Started","n":1}"#.utf8) + Array(repeating: 65, count: 200)
    let (bytes, _) = try file([block])
    for index in bytes.indices {
      var flipped = bytes
      flipped[index] ^= 0x10
      // A flip may leave the meaning as it was, never change it unseen.
      if let content = try? read(flipped, at: 0).0 { #expect(content == block) }
    }
  }

  @Test func `damage leaves the frames around it readable`() throws {
    var (bytes, starts) = try file(Self.blocks)
    bytes[starts[2] + 8] ^= 0xFF
    #expect(throws: CompressionError.self) { try read(bytes, at: starts[2]) }
    #expect(try read(bytes, at: starts[3]).0 == Self.blocks[3])
  }

  @Test func `a level beyond zstd's is brought back to its range`() throws {
    var writer = try ZstdFrameWriter(level: 99)
    var bytes: [UInt8] = []
    let block = Self.blocks[0]
    try unsafe writer.compress(block.span.bytes, into: &bytes)
    #expect(try read(bytes, at: 0).0 == Self.blocks[0])
  }
}
