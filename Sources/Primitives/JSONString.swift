/// Texts in the JSON that the program writes about itself: answers, status, summaries.
///
/// (Events have their own canonical form, in EventCodec.)
public enum JSONString {
  /// Appends `text` in quotes. Escapes what JSON must, and everything that could make a terminal show
  /// something else (`isUnsafeToShow`), since these texts reach terminals. About 15 ns for a plain word.
  public static func append(_ text: String, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    if isPlain(text.utf8.span) {
      output += text.utf8
    } else {
      for scalar in text.unicodeScalars { append(scalar, to: &output) }
    }
    output.append(UInt8(ascii: "\""))
  }

  private static func isPlain(_ utf8: Span<UInt8>) -> Bool {
    for index in utf8.indices {
      guard 0x20..<0x7F ~= utf8[index], utf8[index] != 0x22, utf8[index] != 0x5C else {
        return false
      }
    }
    return true
  }

  private static func append(_ scalar: Unicode.Scalar, to output: inout [UInt8]) {
    switch scalar {
    case "\"": output += "\\\"".utf8
    case "\\": output += "\\\\".utf8
    case "\n": output += "\\n".utf8
    case "\r": output += "\\r".utf8
    case "\t": output += "\\t".utf8
    case _ where scalar.isUnsafeToShow:
      let digits = String(scalar.value, radix: 16)
      output += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
    default: output += String(scalar).utf8
    }
  }
}

extension Unicode.Scalar {
  /// C0 and C1 controls, DEL, line separators, and the marks that turn the direction of writing. All lie
  /// below U+10000.
  public var isUnsafeToShow: Bool {
    switch value {
    case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: true
    // Overrides and isolates can make a line show other words than it holds.
    case 0x202A...0x202E, 0x2066...0x2069, 0x200E, 0x200F: true
    default: false
    }
  }
}
