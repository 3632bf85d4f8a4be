internal import Hashing
internal import Primitives

/// The bytes by which values are told apart in a breakdown: their MessagePack, so that `true`, `1`,
/// `1.0` and `"1"` are four groups. Whole numbers are written in their shortest form; what is absent is
/// one group with null.
enum ValueKey {
  /// A longer value is not kept as a group: it is counted in `other`.
  static let maximumBytes = 1024
  static let null: [UInt8] = [0xC0]

  /// Appends the key of a value; false when it is too long to be one.
  static func append(
    _ payload: RawSpan, _ range: Range<Int>, to key: inout [UInt8]
  ) throws(MessagePackError) -> Bool {
    guard !range.isEmpty else {
      key.append(0xC0)
      return true
    }
    guard range.count <= maximumBytes else { return false }
    let type: UInt8 = payload.bigEndian(at: range.lowerBound)
    if 0xCC...0xD3 ~= type {
      var reader = MessagePackReader(payload, at: range.lowerBound)
      var writer = MessagePackWriter()
      if type == 0xCF {
        writer.write(try reader.readUInt())
      } else {
        writer.write(try reader.readInt())
      }
      key += writer.bytes
    } else {
      key.append(payload.extracting(range))
    }
    return true
  }

  /// Sinks keep no id in plain, so a breakdown by user shows hashes.
  static func user(_ hash: UInt64?) -> [UInt8] {
    guard let hash else { return null }
    var bytes: [UInt8] = []
    bytes.appendBigEndian(hash)
    return text(Array(Hex.encode(bytes).utf8))
  }

  static func text(_ utf8: [UInt8]) -> [UInt8] {
    var writer = MessagePackWriter()
    writer.writeStringHeader(utf8.count)
    return writer.bytes + utf8
  }
}
