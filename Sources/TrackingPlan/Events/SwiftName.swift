/// Names of Swift for names that people chose.
enum SwiftName {
  private static let keywords: Set<String> = [
    "Any", "Protocol", "Self", "Type", "any", "as", "associatedtype", "async", "await", "break",
    "case", "catch", "class", "continue", "default", "defer", "deinit", "do", "else", "enum",
    "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import",
    "in", "init", "inout", "internal", "is", "let", "nil", "operator", "private", "protocol",
    "public", "repeat", "rethrows", "return", "self", "some", "static", "struct", "subscript",
    "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
  ]

  /// `Order Placed` becomes `OrderPlaced`.
  static func type(_ text: String, _ taken: inout Set<String>) -> String {
    unique(words(text).map(capitalized).joined(), "Event", &taken)
  }

  /// `Number of Moves` becomes `numberOfMoves`, `URL` becomes `url`.
  static func member(_ text: String, _ taken: inout Set<String>) -> String {
    let words = words(text)
    guard let first = words.first else { return unique("", "value", &taken) }
    let isAcronym = first.allSatisfy { $0.isUppercase || $0.isNumber }
    let start = isAcronym ? first.lowercased() : first.prefix(1).lowercased() + first.dropFirst()
    return unique(start + words.dropFirst().map(capitalized).joined(), "value", &taken)
  }

  /// The member's name where it is a label: hardly any keyword needs its quotes there.
  static func label(_ member: String) -> String {
    let plain = member.filter { $0 != "`" }
    return ["inout", "let", "var"].contains(plain) ? member : plain
  }

  /// A literal of the text, in which nothing unseen changes how the file reads.
  static func literal(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": literal += "\\\(scalar)"
      case "\n": literal += "\\n"
      case "\r": literal += "\\r"
      case "\t": literal += "\\t"
      default:
        if isUnseen(scalar) {
          literal += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        } else {
          literal.unicodeScalars.append(scalar)
        }
      }
    }
    return literal + "\""
  }

  private static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    return scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value || properties.isBidiControl
      || properties.isDefaultIgnorableCodePoint || ["\u{2028}", "\u{2029}"].contains(scalar)
  }

  private static func capitalized(_ word: String) -> String {
    word.prefix(1).uppercased() + word.dropFirst()
  }

  /// Runs of what an identifier may hold; all else ends a word.
  private static func words(_ text: String) -> [String] {
    var words: [String] = [""]
    for scalar in text.unicodeScalars {
      let isPart =
        scalar.properties.isXIDContinue && scalar != "_" && !scalar.properties.isDiacritic
      if isPart {
        words[words.count - 1].unicodeScalars.append(scalar)
      } else if words.last?.isEmpty == false {
        words.append("")
      }
    }
    return words.filter { !$0.isEmpty }
  }

  private static func unique(
    _ name: String, _ other: String, _ taken: inout Set<String>
  ) -> String {
    var name = name.isEmpty ? other : name
    if let first = name.unicodeScalars.first, !first.properties.isXIDStart { name = "_" + name }
    var candidate = name
    var number = 2
    while !taken.insert(candidate).inserted {
      candidate = "\(name)\(number)"
      number += 1
    }
    return keywords.contains(candidate) ? "`\(candidate)`" : candidate
  }
}
