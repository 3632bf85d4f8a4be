internal import EventModel
internal import Primitives

/// One condition on an event, as `--where` takes it: PATH, an operator, VALUE.
///
/// PATH leads from the envelope's root, keys parted by points (`properties.plan`, `userId`,
/// `properties.list.0`); `\.` is a point inside a key. The operator is the first of `=`, `!=`, `<`, `<=`,
/// `>`, `>=`, `~` (contains) in the text. VALUE is JSON where it parses, else text; one that begins with `=` is
/// written as JSON (`PATH="=1"`), since `==` is a slip of those who write programs.
///
/// `=` compares values with their types, but numbers by value: 1 equals 1.0 and neither equals true.
/// Order is defined between numbers, and between texts by their bytes. Times compare as their text. What
/// is absent satisfies `!=` only; it equals null.
public struct WhereClause: Sendable {
  public enum Operator: String, Sendable, CaseIterable {
    case equal = "="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case contains = "~"
  }

  public struct SyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    public var text: String
    public var description: String {
      "\"\(text)\" is no condition: write PATH=VALUE, with =, !=, <, <=, >, >= or ~"
    }
  }

  public let path: [[UInt8]]
  public let comparison: Operator
  private let value: PropertyValue

  public init(_ text: String) throws(SyntaxError) {
    let bytes = Array(text.utf8)
    guard let at = bytes.firstIndex(where: { "=!<>~".utf8.contains($0) }) else {
      throw SyntaxError(text: text)
    }
    let two = String(decoding: bytes[at...].prefix(2), as: UTF8.self)
    let one = String(decoding: bytes[at...].prefix(1), as: UTF8.self)
    guard let comparison = Operator(rawValue: two) ?? Operator(rawValue: one) else {
      throw SyntaxError(text: text)
    }
    path = Self.keys(ofPath: bytes[..<at])
    guard path.allSatisfy({ !$0.isEmpty }) else { throw SyntaxError(text: text) }
    self.comparison = comparison
    let rest = bytes[(at + comparison.rawValue.utf8.count)...]
    if [.equal, .notEqual].contains(comparison), rest.first == UInt8(ascii: "=") {
      throw SyntaxError(text: text)
    }
    value = Self.parse(rest)
  }

  /// Whether the event satisfies the condition. One that cannot be read does not.
  public func matches(_ payload: RawSpan) -> Bool {
    do throws(MessagePackError) {
      let found = try PayloadReader(payload).value(at: path)
      return holds(asText(found ?? .null))
    } catch {
      return false
    }
  }

  /// Whether an event satisfies the condition of which canonical JSON has this value at `path`; nil
  /// stands for none. The answer is that of `matches` for the event's payload.
  public func matches(json: RawSpan?) -> Bool {
    guard let json else { return holds(.null) }
    do throws(CodecError) {
      return holds(asText(try PropertyValue(json: json)))
    } catch {
      return false
    }
  }

  /// `timestamp` and `receivedAt` are numbers inside and texts everywhere else.
  private func asText(_ found: PropertyValue) -> PropertyValue {
    guard path.count == 1, case .int(let nanoseconds) = found else { return found }
    let isTime = ["timestamp", "receivedAt"].contains(String(decoding: path[0], as: UTF8.self))
    return isTime ? .string(Timestamp(nanoseconds: nanoseconds).text) : found
  }

  private func holds(_ found: PropertyValue) -> Bool {
    switch comparison {
    case .equal: order(found) == 0 || found == value
    case .notEqual: order(found) != 0 && found != value
    case .less: order(found).map { $0 < 0 } ?? false
    case .lessOrEqual: order(found).map { $0 <= 0 } ?? false
    case .greater: order(found).map { $0 > 0 } ?? false
    case .greaterOrEqual: order(found).map { $0 >= 0 } ?? false
    case .contains: contains(found)
    }
  }

  /// Negative, zero or positive where both are numbers or both are texts.
  private func order(_ found: PropertyValue) -> Int? {
    switch (found, value) {
    case (.string(let a), .string(let b)):
      if a.utf8.elementsEqual(b.utf8) { return 0 }
      return a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
    case (.int(let a), .int(let b)): return a < b ? -1 : a > b ? 1 : 0
    case (.uint(let a), .uint(let b)): return a < b ? -1 : a > b ? 1 : 0
    default:
      guard let a = number(found), let b = number(value) else { return nil }
      return a < b ? -1 : a > b ? 1 : 0
    }
  }

  private func number(_ value: PropertyValue) -> Double? {
    switch value {
    case .int(let value): Double(value)
    case .uint(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }

  /// A text inside a text, or a value among the elements of a list.
  private func contains(_ found: PropertyValue) -> Bool {
    switch (found, value) {
    case (.string(let whole), .string(let part)):
      part.isEmpty || Array(whole.utf8).contains(Array(part.utf8))
    case (.array(let values), let value): values.contains(value)
    default: false
    }
  }

  /// The keys of a path as it is written: `properties.plan`, with `\.` for a point inside a key.
  public static func keys(ofPath text: String) -> [[UInt8]] { keys(ofPath: Array(text.utf8)[...]) }

  private static func keys(ofPath bytes: ArraySlice<UInt8>) -> [[UInt8]] {
    var keys: [[UInt8]] = [[]]
    var isEscaped = false
    for byte in bytes {
      if byte == UInt8(ascii: ".") && !isEscaped {
        keys.append([])
      } else if byte == UInt8(ascii: "\\") && !isEscaped {
        isEscaped = true
        continue
      } else {
        if isEscaped && byte != UInt8(ascii: ".") && byte != UInt8(ascii: "\\") {
          keys[keys.count - 1].append(UInt8(ascii: "\\"))
        }
        keys[keys.count - 1].append(byte)
      }
      isEscaped = false
    }
    if isEscaped { keys[keys.count - 1].append(UInt8(ascii: "\\")) }
    return keys
  }

  private static func parse(_ bytes: ArraySlice<UInt8>) -> PropertyValue {
    let text = Array(bytes)
    do throws(CodecError) {
      return try unsafe PropertyValue(json: text.span.bytes)
    } catch {
      return .string(String(decoding: text, as: UTF8.self))
    }
  }
}

extension [UInt8] {
  fileprivate func contains(_ part: [UInt8]) -> Bool {
    guard part.count <= count else { return false }
    return (0...(count - part.count)).contains { self[$0...].starts(with: part) }
  }
}
