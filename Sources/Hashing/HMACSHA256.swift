internal import CSodium

/// HMAC-SHA-256 (RFC 2104): shows that a message comes from someone who has the key.
public enum HMACSHA256 {
  /// The 32 bytes of the code. The key may have any length.
  public static func code(key: [UInt8], _ message: RawSpan) -> [UInt8] {
    Sodium.ready
    var state = crypto_auth_hmacsha256_state()
    unsafe crypto_auth_hmacsha256_init(&state, key, key.count)
    unsafe message.withUnsafeBytes { message in
      _ = unsafe crypto_auth_hmacsha256_update(
        &state, message.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(message.count))
    }
    var code = [UInt8](repeating: 0, count: 32)
    unsafe crypto_auth_hmacsha256_final(&state, &code)
    return code
  }
}
