internal import Primitives

/// Where a value is found: a path from the envelope's root as `--where` has it (`properties.plan`; `\.`
/// is a point inside a key), or one of two words: `event`, the name under which an event travels, and
/// `user`, its `userId`, else its `anonymousId`.
enum FieldPath: Sendable, Hashable {
  case event
  case user
  case keys([[UInt8]])

  init?(_ text: String) {
    if text == "event" {
      self = .event
      return
    }
    if text == "user" {
      self = .user
      return
    }
    var keys: [[UInt8]] = [[]]
    var isEscaped = false
    for byte in text.utf8 {
      if isEscaped {
        if byte != UInt8(ascii: ".") && byte != UInt8(ascii: "\\") {
          keys[keys.count - 1].append(UInt8(ascii: "\\"))
        }
        keys[keys.count - 1].append(byte)
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: ".") {
        keys.append([])
      } else {
        keys[keys.count - 1].append(byte)
      }
    }
    guard !isEscaped, keys.allSatisfy({ !$0.isEmpty }), keys.count <= 32 else { return nil }
    self = .keys(keys)
  }

  /// Seconds of `30s`, `10m`, `2h`, `7d`, `2w`, or of a number without a unit.
  static func seconds(_ text: String) -> Int64? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let number = Int64(digits) else { return nil }
    let unit: Int64
    switch text.dropFirst(digits.count) {
    case "", "s": unit = 1
    case "m": unit = 60
    case "h": unit = 3600
    case "d": unit = 86_400
    case "w": unit = 604_800
    default: return nil
    }
    let (seconds, overflow) = number.multipliedReportingOverflow(by: unit)
    return overflow || seconds > 250 * 365 * 86_400 ? nil : seconds
  }
}
