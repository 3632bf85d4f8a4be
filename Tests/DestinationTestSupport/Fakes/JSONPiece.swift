internal import Foundation

/// A piece of JSON, taken apart without being decoded, so that a test sees the digits as they were
/// written. Another reader than the product's, so that a fault there is not mirrored here; what it is
/// given has been checked to be JSON.
public struct JSONPiece: Hashable, Sendable {
  public let bytes: ArraySlice<UInt8>

  public init(_ bytes: ArraySlice<UInt8>) {
    var bytes = bytes
    while let first = bytes.first, first <= 0x20 { bytes.removeFirst() }
    while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
    self.bytes = bytes
  }

  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The elements of a list; none of anything else.
  public var elements: [JSONPiece] {
    guard bytes.first == UInt8(ascii: "["), let last = bytes.indices.last else { return [] }
    return split(bytes[(bytes.startIndex + 1)..<last], at: ",").map(JSONPiece.init)
  }

  /// The members of an object, keys decoded.
  public var members: [(key: String, value: JSONPiece)] {
    guard bytes.first == UInt8(ascii: "{"), let last = bytes.indices.last else { return [] }
    return split(bytes[(bytes.startIndex + 1)..<last], at: ",").compactMap { member in
      let parts = split(member, at: ":", most: 2)
      guard parts.count == 2, let key = JSONPiece(parts[0]).string else { return nil }
      return (key, JSONPiece(parts[1]))
    }
  }

  /// The members by their keys; of two with one key the first.
  public var fields: [String: JSONPiece] {
    Dictionary(members.map { ($0.key, $0.value) }) { first, _ in first }
  }

  public subscript(_ key: String) -> JSONPiece? { members.first { $0.key == key }?.value }

  /// A text, decoded.
  public var string: String? {
    guard bytes.first == UInt8(ascii: "\""), let last = bytes.indices.last else { return nil }
    let inner = bytes[(bytes.startIndex + 1)..<last]
    guard inner.contains(UInt8(ascii: "\\")) else { return String(decoding: inner, as: UTF8.self) }
    return try? JSONDecoder().decode(String.self, from: Data(bytes))
  }

  public var number: Double? {
    guard let first = bytes.first, first == UInt8(ascii: "-") || (48...57).contains(first) else {
      return nil
    }
    return Double(text)
  }

  public var isNull: Bool { text == "null" }

  /// Containers within each other, this one counted.
  public var depth: Int {
    let inner = bytes.first == UInt8(ascii: "{") ? members.map(\.value) : elements
    guard bytes.first == UInt8(ascii: "{") || bytes.first == UInt8(ascii: "[") else { return 0 }
    return 1 + (inner.map(\.depth).max() ?? 0)
  }

  /// Whether the bytes are JSON at all.
  public static func isJSON(_ bytes: [UInt8]) -> Bool {
    (try? JSONSerialization.jsonObject(with: Data(bytes))) != nil
  }
}

/// Cuts at a character that stands outside of texts and containers.
private func split(
  _ bytes: ArraySlice<UInt8>, at separator: Unicode.Scalar, most: Int = .max
) -> [ArraySlice<UInt8>] {
  var pieces: [ArraySlice<UInt8>] = []
  var start = bytes.startIndex
  var depth = 0
  var isInText = false
  var index = bytes.startIndex
  while index < bytes.endIndex {
    let byte = bytes[index]
    if isInText {
      if byte == UInt8(ascii: "\\") { index += 1 }
      if byte == UInt8(ascii: "\"") { isInText = false }
    } else {
      switch byte {
      case UInt8(ascii: "\""): isInText = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: separator) where depth == 0 && pieces.count < most - 1:
        pieces.append(bytes[start..<index])
        start = index + 1
      default: break
      }
    }
    index += 1
  }
  if !bytes[start...].allSatisfy({ $0 <= 0x20 }) { pieces.append(bytes[start...]) }
  return pieces
}
