internal import CSodium

/// 128 bits that stand for some bytes.
public struct Hash128: Hashable, Sendable, BitwiseCopyable {
  public var high: UInt64
  public var low: UInt64

  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
}

/// A hash that only who has the key can compute (SipHash-2-4 with 128 bits, Aumasson and Bernstein
/// 2012): a list of them gives away nobody, and nobody can choose inputs that meet. About 40 ns for an
/// identifier.
public struct KeyedHash: Sendable {
  public static let keyBytes = 16
  private let key: [UInt8]

  /// - Parameter key: 16 bytes from `SecureRandom`, kept with the hashes it made.
  public init(key: [UInt8]) {
    precondition(key.count == Self.keyBytes, "a key has 16 bytes")
    Sodium.ready
    self.key = key
  }

  public func hash(_ bytes: RawSpan) -> Hash128 {
    var result: (UInt64, UInt64) = (0, 0)
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe eb_siphash128(&result, bytes.baseAddress, bytes.count, key)
    }
    return Hash128(high: UInt64(bigEndian: result.0), low: UInt64(bigEndian: result.1))
  }
}
