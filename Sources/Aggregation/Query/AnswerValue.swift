internal import Primitives

/// A value of an answer, before it becomes JSON, a cell of a table, or a field of CSV.
enum AnswerValue: Sendable, Equatable {
  case null
  case boolean(Bool)
  case whole(Int128)
  case double(Double)
  case text(String)
  /// JSON as it is: a value of an event that is no text.
  case json([UInt8])
  case list([AnswerValue])
  case object([(key: String, value: AnswerValue)])

  static func count(_ value: UInt64) -> AnswerValue { .whole(Int128(value)) }

  static func == (a: AnswerValue, b: AnswerValue) -> Bool { a.json == b.json }

  init(_ number: NumberSummary.Number?) {
    switch number {
    case .whole(let value)?: self = .whole(value)
    // A sum that no double holds.
    case .double(let value)?: self = value.isFinite ? .double(value) : .null
    case nil: self = .null
    }
  }

  /// One line of UTF-8.
  var json: [UInt8] {
    var output: [UInt8] = []
    append(to: &output)
    return output
  }

  func append(to output: inout [UInt8]) {
    switch self {
    case .null: output += "null".utf8
    case .boolean(let value): output += (value ? "true" : "false").utf8
    case .whole(let value):
      // 128 bits take four times as long to write, and are rarely needed.
      if let short = Int64(exactly: value) {
        output += String(short).utf8
      } else {
        output += String(value).utf8
      }
    // Swift writes the shortest text that reads back as the same number.
    case .double(let value): output += (value.isFinite ? value.description : "null").utf8
    case .text(let value): JSONString.append(value, to: &output)
    case .json(let value): output += value
    case .list(let values):
      JSONFrame.appendList(values, to: &output) { $0.append(to: &$1) }
    case .object(let members):
      JSONFrame.appendObject(members, to: &output, key: \.key) { $0.value.append(to: &$1) }
    }
  }

  /// As a person reads it in a table; control characters are still in it.
  var plain: String {
    switch self {
    case .null: "-"
    case .text(let value): value
    case .double(let value): Self.rounded(value)
    default: String(decoding: json, as: UTF8.self)
    }
  }

  /// Six significant digits are enough for eyes; JSON and CSV have all.
  private static func rounded(_ value: Double) -> String {
    guard value.isFinite, value != 0, value != value.rounded() || abs(value) >= 1e15 else {
      return Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }
    var scale = 1.0
    while abs(value) * scale < 1e5, scale < 1e12 { scale *= 10 }
    return "\((value * scale).rounded() / scale)"
  }
}
