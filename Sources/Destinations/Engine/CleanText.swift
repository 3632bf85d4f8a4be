/// Text of others, made fit for one line of a log.
public enum CleanText {
  /// Bytes of a reason or an answer that are shown.
  public static let usualLimit = 300

  /// The text of an answer's body: tags of HTML taken out, blanks and control characters joined to one
  /// blank, at most `limit` bytes. Looks at the first 4,000 bytes only.
  public static func snippet(_ body: [UInt8], limit: Int = usualLimit) -> String {
    let text = String(decoding: body.prefix(4000), as: UTF8.self)
    guard text.utf8.first(where: { $0 > 0x20 }) == UInt8(ascii: "<") else {
      return clean(text, limit: limit)
    }
    var outside = ""
    var isInside = false
    for character in text.unicodeScalars {
      switch character {
      case "<": isInside = true
      case ">" where isInside:
        isInside = false
        outside += " "
      default: if !isInside { outside.unicodeScalars.append(character) }
      }
    }
    return clean(outside, limit: limit)
  }

  /// Blanks and control characters joined to one blank; at most `limit` bytes, whole characters.
  public static func clean(_ text: String, limit: Int = usualLimit) -> String {
    var result = ""
    var bytes = 0
    var isPending = false
    for scalar in text.unicodeScalars {
      guard isVisible(scalar) else {
        isPending = !result.isEmpty
        continue
      }
      bytes += UTF8.width(scalar) + (isPending ? 1 : 0)
      guard bytes <= limit else { return result + "..." }
      if isPending { result += " " }
      isPending = false
      result.unicodeScalars.append(scalar)
    }
    return result
  }

  /// Controls, blanks, and what turns the direction of text or has no width.
  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate,
      .privateUse, .unassigned:
      false
    default: true
    }
  }
}
