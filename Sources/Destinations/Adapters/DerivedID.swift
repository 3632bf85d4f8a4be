internal import BusProtocol
internal import Hashing
internal import Primitives

/// Identifiers made from others, always the same from the same, where a provider does not take one as
/// it is. 128 bits and more of SHA-256, so two do not meet.
enum DerivedID {
  /// 64 hexadecimal digits.
  static func hex(_ bytes: RawSpan) -> [UInt8] { Array(Hex.encode(SHA256.digest(of: bytes)).utf8) }

  /// The form of a UUID, lower case, version 8 (RFC 9562: "custom").
  static func uuid(_ bytes: RawSpan) -> [UInt8] {
    var digest = Array(SHA256.digest(of: bytes).prefix(16))
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    var text: [UInt8] = []
    for (index, digits) in Hex.encode(digest).utf8.enumerated() {
      if [8, 12, 16, 20].contains(index) { text.append(UInt8(ascii: "-")) }
      text.append(digits)
    }
    return text
  }

  /// For an event without an identifier: its place in the journal, else its content.
  static func ofEvent(_ payload: RawSpan, _ source: EventSource) -> [UInt8] {
    guard let position = source.position else { return Array(hex(payload).prefix(36)) }
    return Array("event-\(position.epoch)-\(position.offset)".utf8)
  }
}
