internal import Primitives

/// ZeroMQ's base 85, in which keys are written: five printable characters for four bytes.
enum Z85 {
  private static let alphabet = Array(
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#".utf8)
  private static let values: [UInt8?] = {
    var values = [UInt8?](repeating: nil, count: 256)
    for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
    return values
  }()

  /// - Precondition: the count is divisible by four.
  static func encode(_ bytes: [UInt8]) -> [UInt8] {
    precondition(bytes.count % 4 == 0, "\(bytes.count) bytes")
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count / 4 * 5)
    for start in stride(from: 0, to: bytes.count, by: 4) {
      let word = bytes[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      for divisor: UInt32 in [52_200_625, 614_125, 7225, 85, 1] {
        text.append(alphabet[Int(word / divisor % 85)])
      }
    }
    return text
  }

  /// Nil for what is not Z85.
  static func decode(_ text: [UInt8]) -> [UInt8]? {
    guard text.count % 5 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 5 * 4)
    for start in stride(from: 0, to: text.count, by: 5) {
      var word: UInt64 = 0
      for character in text[start..<start + 5] {
        guard let value = values[Int(character)] else { return nil }
        word = word * 85 + UInt64(value)
      }
      guard let word = UInt32(exactly: word) else { return nil }
      bytes.appendBigEndian(word)
    }
    return bytes
  }
}
