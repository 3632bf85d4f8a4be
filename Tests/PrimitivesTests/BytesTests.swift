import Primitives
import Testing

@Suite struct BytesTests {
  @Test func `integers are written and read big endian`() {
    var bytes: [UInt8] = [9]
    bytes.appendBigEndian(UInt16(0x0102))
    bytes.appendBigEndian(UInt32(0x0304_0506))
    bytes.appendBigEndian(Int64(-2))
    #expect(bytes == [9, 1, 2, 3, 4, 5, 6] + [UInt8](repeating: 255, count: 7) + [254])
    let read = bytes
    let span = unsafe read.span.bytes
    let short = span.bigEndian(at: 1, as: UInt16.self)
    let long = span.bigEndian(at: 7, as: Int64.self)
    #expect(short == 0x0102 && long == -2)
    bytes.storeBigEndian(UInt16(0xAABB), at: 1)
    #expect(bytes[1...2] == [0xAA, 0xBB])
  }

  @Test func `an interner finds each key by its bytes and numbers them densely`() {
    var interner = ByteInterner(seed: 1)
    let keys = (0..<500).map { Array("key \($0)".utf8) }
    for (index, key) in keys.enumerated() { #expect(interner.intern(key) == index) }
    for (index, key) in keys.enumerated() {
      #expect(interner.find(key) == index)
      #expect(interner[index] == key)
    }
    #expect(interner.find(Array("key 500".utf8)) == nil)
    // Two spellings of one character are two keys.
    #expect(interner.intern(Array("\u{E9}".utf8)) != interner.intern(Array("e\u{301}".utf8)))
    interner.removeAll()
    #expect(interner.count == 0 && interner.find(keys[0]) == nil)
  }

  @Test func `the seeded random repeats itself and seeds differ`() {
    var a = SeededRandom(seed: 7)
    var b = SeededRandom(seed: 7)
    var c = SeededRandom(seed: 8)
    let first = (0..<100).map { _ in a.next() }
    #expect(first == (0..<100).map { _ in b.next() })
    #expect(first != (0..<100).map { _ in c.next() })
    #expect(Set(first).count == 100)
  }

  @Test func `waits grow up to the limit and stay within it`() {
    var random = SeededRandom(seed: 3)
    var backoff = Backoff(base: .milliseconds(100), limit: .seconds(5))
    for attempt in 0..<40 {
      let ceiling = min(5_000, 100 << min(attempt, 20))
      let wait = backoff.next(using: &random)
      #expect(wait >= .zero && wait <= .milliseconds(ceiling))
    }
    backoff.reset()
    #expect(backoff.next(using: &random) <= .milliseconds(100))
  }
}
