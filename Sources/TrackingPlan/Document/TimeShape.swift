/// Tells texts that are times from others, by their shape: `2026-11-30`, `2026-11-30T10:00:00.5Z`.
enum TimeShape {
  private static let shape = Array("0000-00-00T00:00:00".utf8)

  static func isTime(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == 10 || 20...35 ~= bytes.count else { return false }
    for (byte, wanted) in zip(bytes, shape) {
      let isDigit = 48...57 ~= byte
      guard wanted == 48 ? isDigit : byte == wanted || (wanted == 0x54 && byte == 0x20) else {
        return false
      }
    }
    guard bytes.count > 10 else { return true }
    var rest = bytes[19...]
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      let digits = rest.prefix { 48...57 ~= $0 }
      guard 1...9 ~= digits.count else { return false }
      rest = rest.dropFirst(digits.count)
    }
    return isZone(rest)
  }

  /// `Z`, or an offset as `+01:00`.
  private static func isZone(_ bytes: ArraySlice<UInt8>) -> Bool {
    if bytes.elementsEqual("Z".utf8) { return true }
    guard bytes.count == 6, bytes.first == UInt8(ascii: "+") || bytes.first == UInt8(ascii: "-")
    else { return false }
    return zip(bytes.dropFirst(), "00:00".utf8).allSatisfy {
      $1 == UInt8(ascii: ":") ? $0 == $1 : 48...57 ~= $0
    }
  }
}
