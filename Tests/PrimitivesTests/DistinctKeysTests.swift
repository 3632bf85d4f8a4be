import Primitives
import Testing

@Suite struct DistinctKeysTests {
  /// The keys one behind the other, and their places.
  private func laid(_ keys: [[UInt8]]) -> (bytes: [UInt8], places: [Range<Int>]) {
    var bytes: [UInt8] = []
    let places = keys.map { key in
      bytes += key
      return bytes.count - key.count..<bytes.count
    }
    return (bytes, places)
  }

  private func repeated(_ keys: [[UInt8]]) -> [UInt8]? {
    let (bytes, places) = laid(keys)
    return unsafe DistinctKeys.repeated(places[...], in: bytes.span.bytes).map { Array(bytes[$0]) }
  }

  private func keys(_ count: Int) -> [[UInt8]] { (0..<count).map { Array("Event \($0)".utf8) } }

  @Test(arguments: [0, 1, 2, 12, 13, 100, 1000])
  func `different keys are none that stands twice`(_ count: Int) {
    #expect(repeated(keys(count)) == nil)
  }

  @Test(arguments: [1, 11, 12, 13, 100, 1000])
  func `a key that stands twice is found wherever it is`(_ count: Int) {
    for index in [0, count / 2, count - 1] {
      let key = Array("Event \(index)".utf8)
      #expect(repeated(keys(count) + [key]) == key)
      #expect(repeated([key] + keys(count)) == key)
    }
  }

  @Test func `keys with the same checksum are different keys`() {
    // What a key can be changed by, bit by bit, without changing its CRC-32C: the polynomial.
    let polynomial: UInt64 = 1 << 32 | 0x1EDC_6F41
    var change = [UInt8](repeating: 0, count: 5)
    for bit in 0...32 where polynomial >> UInt64(32 - bit) & 1 == 1 {
      change[bit / 8] |= 1 << UInt8(bit % 8)
    }
    let key = Array("Event".utf8)
    let other = zip(key, change).map { $0 ^ $1 }
    #expect(key != other)
    #expect(CRC32C.checksum(key) == CRC32C.checksum(other))
    #expect(repeated(keys(100) + [key, other]) == nil)
    #expect(repeated(keys(100) + [key, other, key]) == key)
  }
}
