internal import CCrypto

/// SHA-256 (FIPS 180-4): tells whether a file is the file it was.
///
/// By libcrypto, which uses the processor's own instructions for it: 2 GB/s where it has them, about four
/// times what portable code reaches. Beginning one costs about 200 ns. Belongs to one thread.
@safe public struct SHA256: ~Copyable {
  public static let digestBytes = 32
  private static let algorithm = unsafe Algorithm()
  private let context: OpaquePointer

  public init() {
    guard let context = unsafe EVP_MD_CTX_new() else {
      preconditionFailure("no memory for a checksum")
    }
    unsafe self.context = context
    Self.check(unsafe EVP_DigestInit_ex2(context, Self.algorithm.pointer, nil))
  }

  deinit { unsafe EVP_MD_CTX_free(context) }

  public mutating func update(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes {
      Self.check(unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count))
    }
  }

  public consuming func digest() -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Self.digestBytes)
    Self.check(unsafe EVP_DigestFinal_ex(context, &digest, nil))
    return digest
  }

  public static func digest(of bytes: RawSpan) -> [UInt8] {
    var hash = SHA256()
    hash.update(bytes)
    return hash.digest()
  }

  /// libcrypto fails here only without memory, and then no file may be called the file it was.
  private static func check(_ result: Int32) {
    precondition(result == 1, "libcrypto cannot make a checksum")
  }

  /// Looked up once for all threads: a look-up costs more than the hash of a short text.
  // Sendable: what it points to is never changed nor freed, so threads share it without a lock.
  @unsafe private struct Algorithm: @unchecked Sendable {
    let pointer: OpaquePointer

    init() {
      guard let found = unsafe EVP_MD_fetch(nil, "SHA256", nil) else {
        preconditionFailure("libcrypto has no SHA-256")
      }
      unsafe pointer = found
    }
  }
}
