/// The fields of an `application/x-www-form-urlencoded` body.
enum FormFields {
  /// The first field of that name, decoded; nil when it is absent.
  static func value(of name: String, in body: [UInt8]) -> [UInt8]? {
    for pair in body.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: true) {
      let parts = pair.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let key = parts.first, decoded(key) == Array(name.utf8) else { continue }
      return parts.count > 1 ? decoded(parts[1]) : []
    }
    return nil
  }

  /// `+` is a blank, `%41` a byte; a percent sign without two digits stands for itself.
  static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var index = text.startIndex
    while index < text.endIndex {
      let byte = text[index]
      if byte == UInt8(ascii: "%"), index + 2 < text.endIndex,
        let high = digit(text[index + 1]), let low = digit(text[index + 2])
      {
        bytes.append(high << 4 | low)
        index += 3
        continue
      }
      bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
      index += 1
    }
    return bytes
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - 48
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - 87
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - 55
    default: nil
    }
  }
}
