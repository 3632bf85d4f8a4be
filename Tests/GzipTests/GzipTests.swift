import Gzip
import Testing

@Suite struct GzipTests {
  private func member(_ text: String) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try unsafe Gzip.compress(Array(text.utf8).span.bytes, into: &bytes)
    return bytes
  }

  /// Reads `bytes` in pieces of `step`.
  private func read(_ bytes: [UInt8], step: Int = .max, limit: Int = 1 << 20) throws -> String {
    var stream = try GunzipStream()
    var content: [UInt8] = []
    var at = 0
    while at < bytes.count {
      let end = at + min(step, bytes.count - at)
      try unsafe stream.read(Array(bytes[at..<end]).span.bytes, into: &content, limit: limit)
      at = end
    }
    try stream.finish()
    return String(decoding: content, as: UTF8.self)
  }

  @Test(arguments: [1, 2, 7, Int.max]) func `pieces of any size give the content`(step: Int) throws
  {
    let text = String(repeating: "Zürich 🎮 ", count: 500)
    #expect(try read(try member(text), step: step) == text)
  }

  @Test(arguments: [1, Int.max]) func `members one after another are one stream`(step: Int) throws {
    #expect(try read(try member("one ") + member("") + member("two"), step: step) == "one two")
  }

  @Test func `an empty member is a whole one`() throws {
    #expect(try read(try member("")) == "")
  }

  @Test func `nothing at all is cut off`() throws {
    #expect(throws: CompressionError.truncated) { try read([]) }
  }

  @Test func `a cut member is cut off, wherever it is cut`() throws {
    let bytes = try member("some text")
    for count in 0..<bytes.count {
      #expect(throws: CompressionError.truncated) { try read(Array(bytes[..<count])) }
    }
  }

  @Test func `what follows a member must be another`() throws {
    #expect(throws: CompressionError.self) { try read(try member("one") + Array("rest".utf8)) }
  }

  @Test func `a flipped byte in the content is damage`() throws {
    var bytes = try member("some text that is here")
    bytes[14] ^= 0x40
    #expect(throws: CompressionError.self) { try read(bytes) }
  }

  @Test func `content may reach the limit and not pass it`() throws {
    let bytes = try member(String(repeating: "a", count: 1000))
    #expect(try read(bytes, limit: 1000).utf8.count == 1000)
    #expect(throws: CompressionError.limit(bytes: 999)) { try read(bytes, limit: 999) }
  }

  @Test func `a bomb costs no more than the limit`() throws {
    let bytes = try member(String(repeating: "\0", count: 50 << 20))
    var stream = try GunzipStream()
    var content: [UInt8] = []
    #expect(throws: CompressionError.limit(bytes: 1 << 20)) {
      try unsafe stream.read(bytes.span.bytes, into: &content, limit: 1 << 20)
    }
    #expect(content.count <= (1 << 20) + 1)
  }
}
