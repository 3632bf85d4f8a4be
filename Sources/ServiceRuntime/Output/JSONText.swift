internal import Primitives

/// A JSON value for summaries and status: what the program says about itself, not events.
///
/// Objects keep the order of their members. Doubles that JSON cannot hold (NaN, infinities) are
/// null.
public enum JSONText: Hashable, Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case double(Double)
  case text(String)
  case list([JSONText])
  case object([Member])

  public struct Member: Hashable, Sendable {
    public var key: String
    public var value: JSONText
    public init(_ key: String, _ value: JSONText) {
      self.key = key
      self.value = value
    }
  }

  /// One line of UTF-8 without spaces and without a newline.
  public var utf8: [UInt8] {
    var output: [UInt8] = []
    append(to: &output)
    return output
  }

  public var description: String { String(decoding: utf8, as: UTF8.self) }

  private func append(to output: inout [UInt8]) {
    switch self {
    case .null: output += "null".utf8
    case .boolean(let value): output += (value ? "true" : "false").utf8
    case .integer(let value): output += String(value).utf8
    case .double(let value):
      // Swift writes the shortest text that reads back as the same number.
      output += (value.isFinite ? value.description : "null").utf8
    case .text(let value): JSONString.append(value, to: &output)
    case .list(let values):
      JSONFrame.appendList(values, to: &output) { $0.append(to: &$1) }
    case .object(let members):
      JSONFrame.appendObject(members, to: &output, key: \.key) { $0.value.append(to: &$1) }
    }
  }
}

extension JSONText: CustomStringConvertible {}

extension JSONText: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .text(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  public init(arrayLiteral elements: JSONText...) { self = .list(elements) }
  public init(dictionaryLiteral elements: (String, JSONText)...) {
    self = .object(elements.map { Member($0.0, $0.1) })
  }
}
