import Primitives
import Testing

/// The vectors of RFC 3720, appendix B.4.
@Suite struct ChecksumTests {
  static let vectors: [([UInt8], UInt32)] = [
    ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
    ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
    ([UInt8](0..<32), 0x46DD_794E),
    ([UInt8]((0..<32).reversed()), 0x113F_DB5C),
    (Array("123456789".utf8), 0xE306_9283),
    ([], 0),
  ]

  @Test(arguments: Self.vectors)
  func `the vectors of the RFC come out`(bytes: [UInt8], checksum: UInt32) {
    #expect(CRC32C.checksum(bytes) == checksum)
  }

  @Test func `a checksum goes on from where it stopped, at each place`() {
    let bytes = (0..<100).map { UInt8(truncatingIfNeeded: $0 &* 37) }
    let whole = CRC32C.checksum(bytes)
    for cut in 0...bytes.count {
      let first = CRC32C.checksum(Array(bytes[..<cut]))
      #expect(CRC32C.checksum(Array(bytes[cut...]), seed: first) == whole)
    }
  }

  /// Long input is taken in three lanes; pieces of less than a lane are not.
  @Test(arguments: [3071, 3072, 3073, 6143, 6144, 9216, 10_007])
  func `a long checksum is that of its pieces`(count: Int) {
    var random = SeededRandom(seed: UInt64(count))
    let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    var pieces: UInt32 = 0
    for start in stride(from: 0, to: count, by: 1000) {
      pieces = CRC32C.checksum(Array(bytes[start..<min(count, start + 1000)]), seed: pieces)
    }
    #expect(CRC32C.checksum(bytes) == pieces)
    #expect(
      CRC32C.checksum(Array(bytes.dropFirst(3)), seed: CRC32C.checksum(Array(bytes[..<3])))
        == pieces)
  }
}
