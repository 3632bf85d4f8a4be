/// Why bytes could not be compressed or decompressed.
public enum CompressionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The compressed bytes are not what the format or their checksum says, at this byte of the input.
  case damaged(offset: Int, reason: String)
  /// The compressed bytes end in the middle.
  case truncated
  /// The content is larger than the caller allows.
  case limit(bytes: Int)
  /// The library has no memory or refuses its settings.
  case unavailable(String)

  public var description: String {
    switch self {
    case .damaged(let offset, let reason): "damaged at byte \(offset): \(reason)"
    case .truncated: "the compressed bytes end too early"
    case .limit(let bytes): "the content is larger than the limit of \(bytes) bytes"
    case .unavailable(let text): "the compressor cannot work: \(text)"
    }
  }
}
