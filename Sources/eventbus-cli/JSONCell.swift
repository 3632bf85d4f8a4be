import EventCodec
import EventModel
import Primitives
import ServiceRuntime

/// JSON values as cells of tables and CSV.
enum JSONCell {
  /// A text as it is, null and nothing as "", all else as JSON.
  static func text(_ json: RawSpan?) -> String {
    guard let json else { return "" }
    do throws(CodecError) {
      switch try PropertyValue(json: json) {
      case .null: return ""
      case .string(let text): return text
      default: break
      }
    } catch {
      // Shown as it stands.
    }
    return String(decoding: json.copied(), as: UTF8.self)
  }

  /// As `text`, but no two values look alike: a text that reads as another value is shown as JSON, so
  /// that `"1"` is not taken for 1, nor `"null"` for null.
  static func exactText(_ json: [UInt8]) -> String {
    let text = unsafe text(json.span.bytes)
    let isText = json.first == UInt8(ascii: "\"")
    if isText, !CanonicalJSON.readsAsValue(text) { return text }
    return String(decoding: json, as: UTF8.self)
  }

  /// RFC 4180: a cell with a comma, quote or line end stands in quotes, and its quotes twice.
  static func csv(_ cell: String) -> String { csv(cell, inQuotes: false) }

  /// A value that groups are told apart by: a text that reads as another value stands in quotes, the value
  /// itself never does.
  static func csv(group json: [UInt8], isForTerminal: Bool) -> String {
    let isText = json.first == UInt8(ascii: "\"")
    let text = isText ? unsafe text(json.span.bytes) : String(decoding: json, as: UTF8.self)
    return csv(
      isForTerminal ? TerminalText.escape(text) : text,
      inQuotes: isText && CanonicalJSON.readsAsValue(text))
  }

  static func csv(_ cell: String, inQuotes: Bool) -> String {
    let needsQuotes = cell.utf8.contains { $0 == 0x2C || $0 == 0x22 || $0 == 0x0A || $0 == 0x0D }
    guard needsQuotes || inQuotes else { return cell }
    var text = "\""
    for scalar in cell.unicodeScalars {
      if scalar == "\"" { text += "\"\"" } else { text.unicodeScalars.append(scalar) }
    }
    return text + "\""
  }
}
