internal import Hashing
public import Primitives

/// What makes importing a file again harmless: the same content has the same producer and the same ids.
///
/// The broker stores each line of a producer once (sequence = line), and what it has forgotten, after a
/// week without that producer, the archive still knows by its `messageId`.
public struct ImportIdentity: Hashable, Sendable {
  /// 16 bytes: the producer of this content, into this archive, for these subscribers. Others would take
  /// nothing from one that has sent it already.
  public let producer: [UInt8]
  private let base: UUIDv7

  /// - Parameters:
  ///   - digest: SHA-256 of the file as it lies there.
  ///   - archive: `Catalogue.key`.
  ///   - subscribers: for whom it is imported, in any order.
  public init(digest: [UInt8], archive: [UInt8], subscribers: [String]) {
    precondition(digest.count == SHA256.digestBytes, "a digest of \(digest.count) bytes")
    var text = Array("eventbus import".utf8) + archive + digest
    for name in Set(subscribers).sorted() { text += Array(name.utf8) + [0] }
    var producer = Array(unsafe SHA256.digest(of: text.span.bytes)[..<16])
    // All zero stands for nobody.
    producer[15] |= 1
    self.producer = producer
    let bytes = unsafe digest.span.bytes
    base = UUIDv7(high: bytes.bigEndian(at: 0), low: bytes.bigEndian(at: 8))
  }

  /// The `messageId` of a line's event that has none: a UUID of version 8, by content and line only.
  public func messageId(line: Int) -> UUIDv7 {
    UUIDv7(
      high: base.high & ~0xF000 | 0x8000,
      low: (base.low &+ UInt64(truncatingIfNeeded: line)) & ~(3 << 62) | 2 << 62)
  }
}
