import Foundation

/// JSON read by another reader than ours, so that a fault of ours is not mirrored.
enum JSONValue: Decodable, Hashable {
  case null
  case bool(Bool)
  case number(Decimal)
  case text(String)
  case list([JSONValue])
  case object([String: JSONValue])

  init(text: String) throws {
    self = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else if let value = try? container.decode(Decimal.self) {
      self = .number(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .list(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  subscript(_ key: String) -> JSONValue? {
    if case .object(let members) = self { members[key] } else { nil }
  }

  var text: String? { if case .text(let text) = self { text } else { nil } }
  var int: Int? {
    if case .number(let number) = self { Int(exactly: number as NSDecimalNumber) } else { nil }
  }

  /// Without what the bus adds: the rest is what was published.
  func without(_ keys: Set<String>) -> JSONValue {
    guard case .object(let members) = self else { return self }
    return .object(members.filter { !keys.contains($0.key) })
  }
}

extension [JSONValue] {
  var names: [String] { compactMap { $0["event"]?.text } }
  var messageIDs: [String] { compactMap { $0["messageId"]?.text } }
}
