internal import EventCodec
internal import Primitives

// Looking things up in one MessagePack map; empty bytes are a map without members.
extension RawSpan {
  /// A text that is not empty; nil when there is none.
  func text(at path: [String]) throws(MessagePackError) -> [UInt8]? {
    guard let range = try range(at: path), extracting(range).isText else { return nil }
    var reader = MessagePackReader(self, at: range.lowerBound)
    return try reader.readStringSpan().copied()
  }

  func integer(at path: [String]) throws(MessagePackError) -> Int64? {
    guard let range = try range(at: path), extracting(range).isWholeNumber else { return nil }
    var reader = MessagePackReader(self, at: range.lowerBound)
    return Int64(clamping: try reader.readUIntOrInt())
  }

  func isTrue(at path: [String]) throws(MessagePackError) -> Bool {
    guard let range = try range(at: path) else { return false }
    return bigEndian(at: range.lowerBound, as: UInt8.self) == 0xC3
  }

  private func range(at path: [String]) throws(MessagePackError) -> Range<Int>? {
    guard !isEmpty else { return nil }
    return try PayloadReader(self).range(at: path.map { Array($0.utf8) })
  }

  var isWholeNumber: Bool {
    let type = isEmpty ? 0xC0 : bigEndian(at: 0, as: UInt8.self)
    return type < 0x80 || type >= 0xE0 || (0xCC...0xD3).contains(type)
  }

  var isNumber: Bool {
    let type = isEmpty ? 0xC0 : bigEndian(at: 0, as: UInt8.self)
    return isWholeNumber || type == 0xCA || type == 0xCB
  }
}

extension MessagePackReader {
  fileprivate mutating func readUIntOrInt() throws(MessagePackError) -> Int128 {
    try peek() == 0xCF ? Int128(try readUInt()) : Int128(try readInt())
  }
}

extension [UInt8] {
  /// The first `most` bytes of UTF-8, less the character that would be cut.
  func prefixOfText(_ most: Int) -> [UInt8] {
    guard count > most else { return self }
    var end = most
    while end > 0, self[end] & 0xC0 == 0x80 { end -= 1 }
    return Array(self[..<end])
  }
}
