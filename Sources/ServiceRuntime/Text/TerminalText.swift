internal import Primitives

/// Text from events on its way to a person's screen.
///
/// An event can hold anything, escape sequences that rewrite the terminal included. Everything that
/// is printed or logged passes here.
public enum TerminalText {
  /// `text` with control characters made visible: `\n`, `\t`, `\r` by their names, all other C0 and
  /// C1 controls, DEL, line separators and the marks that turn the direction of writing as
  /// `\u{9B}`. Text without them is returned as it is, without a copy.
  public static func escape(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: \.isUnsafeToShow) else { return text }
    var escaped = ""
    escaped.reserveCapacity(text.utf8.count + 16)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": escaped += "\\n"
      case "\r": escaped += "\\r"
      case "\t": escaped += "\\t"
      case _ where scalar.isUnsafeToShow:
        escaped += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// The number of terminal columns that `text` takes: two for East Asian wide characters and
  /// emoji, none for combining marks.
  public static func width(_ text: String) -> Int {
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text.utf8.count }
    return text.reduce(0) { $0 + width(of: $1) }
  }

  private static func width(of character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: break
    }
    let hasEmojiStyle = character.unicodeScalars.contains { $0.value == 0xFE0F }
    return hasEmojiStyle || first.properties.isEmojiPresentation || isWide(first) ? 2 : 1
  }

  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
      0xA000...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
      0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      true
    default: false
    }
  }

  /// `text` cut to `columns`, the last of them `…` when something was cut.
  public static func truncate(_ text: String, columns: Int) -> String {
    guard width(text) > columns else { return text }
    var kept = ""
    var used = 0
    for character in text {
      let next = width(of: character)
      if used + next > columns - 1 { break }
      kept.append(character)
      used += next
    }
    return columns > 0 ? kept + "…" : ""
  }
}
