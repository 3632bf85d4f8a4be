internal import CSodium

/// SHA-256 (FIPS 180-4): tells whether a file is the file it was.
public struct SHA256: ~Copyable {
  public static let digestBytes = 32
  private var state: crypto_hash_sha256_state

  public init() {
    Sodium.ready
    state = crypto_hash_sha256_state()
    unsafe crypto_hash_sha256_init(&state)
  }

  public mutating func update(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { bytes in
      _ = unsafe crypto_hash_sha256_update(
        &state, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count))
    }
  }

  public consuming func digest() -> [UInt8] {
    var copy = state
    var digest = [UInt8](repeating: 0, count: Self.digestBytes)
    unsafe crypto_hash_sha256_final(&copy, &digest)
    return digest
  }

  public static func digest(of bytes: RawSpan) -> [UInt8] {
    var hash = SHA256()
    hash.update(bytes)
    return hash.digest()
  }
}
