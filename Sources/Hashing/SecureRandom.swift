internal import CSodium

/// Random bytes from the system, fit for keys.
public enum SecureRandom {
  public static func bytes(_ count: Int) -> [UInt8] {
    Sodium.ready
    var bytes = [UInt8](repeating: 0, count: count)
    unsafe randombytes_buf(&bytes, count)
    return bytes
  }
}

/// Comparison that takes as long whether the first byte differs or the last, so that a key cannot be
/// guessed byte by byte. Only the lengths show.
public enum ConstantTime {
  public static func isEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    return unsafe sodium_memcmp(a, b, a.count) == 0
  }
}
