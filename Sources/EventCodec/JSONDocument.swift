/// A JSON text with the place of every value, so that what is wrong in it can be pointed at.
///
/// For files that people write: small, read once. Strict (RFC 8259), nested 16 deep at most.
package struct JSONNode: Sendable {
  package indirect enum Value: Sendable {
    case null
    case boolean(Bool)
    case number(Double)
    case text(String)
    case list([JSONNode])
    case object([Member])
  }

  package struct Member: Sendable {
    package var key: String
    package var offset: Int
    package var value: JSONNode
  }

  package var value: Value
  /// The value's first byte.
  package var offset: Int

  package init(value: Value, offset: Int) {
    self.value = value
    self.offset = offset
  }

  /// What it is, in words for messages.
  package var kind: String {
    switch value {
    case .null: "null"
    case .boolean: "true or false"
    case .number: "a number"
    case .text: "a text"
    case .list: "a list"
    case .object: "an object"
    }
  }
}

/// What is wrong, and at which byte.
package struct JSONSyntaxError: Error {
  package var offset: Int
  package var text: String
}

package struct JSONDocumentParser {
  private static let deepest = 16

  private let bytes: [UInt8]
  private var at = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  package static func parse(_ bytes: [UInt8]) throws(JSONSyntaxError) -> JSONNode {
    if let end = String(validating: bytes, as: UTF8.self) == nil ? 0 : nil {
      throw JSONSyntaxError(offset: end, text: "the file is not UTF-8")
    }
    var parser = JSONDocumentParser(bytes)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { parser.at = 3 }
    let node = try parser.node(depth: deepest)
    parser.skipBlanks()
    guard parser.at == bytes.count else { throw parser.wrong("something follows the end") }
    return node
  }

  private func wrong(_ text: String) -> JSONSyntaxError { JSONSyntaxError(offset: at, text: text) }

  private mutating func skipBlanks() {
    while at < bytes.count, [0x20, 0x0A, 0x0D, 0x09].contains(bytes[at]) { at += 1 }
  }

  private mutating func next() throws(JSONSyntaxError) -> UInt8 {
    skipBlanks()
    guard at < bytes.count else { throw wrong("the file ends too early") }
    return bytes[at]
  }

  private mutating func take(_ character: Unicode.Scalar) throws(JSONSyntaxError) -> Bool {
    guard try next() == UInt8(ascii: character) else { return false }
    at += 1
    return true
  }

  private mutating func node(depth: Int) throws(JSONSyntaxError) -> JSONNode {
    let first = try next()
    let start = at
    guard depth > 0 else { throw wrong("it is nested too deeply") }
    switch first {
    case UInt8(ascii: "{"): return JSONNode(value: .object(try members(depth)), offset: start)
    case UInt8(ascii: "["): return JSONNode(value: .list(try elements(depth)), offset: start)
    case UInt8(ascii: "\""): return JSONNode(value: .text(try text()), offset: start)
    default: return JSONNode(value: try word(), offset: start)
    }
  }

  private mutating func members(_ depth: Int) throws(JSONSyntaxError) -> [JSONNode.Member] {
    at += 1
    var members: [JSONNode.Member] = []
    if try take("}") { return members }
    repeat {
      guard try next() == UInt8(ascii: "\"") else { throw wrong("a key in quotes is missing") }
      let offset = at
      let key = try text()
      if members.contains(where: { $0.key.utf8.elementsEqual(key.utf8) }) {
        throw JSONSyntaxError(offset: offset, text: "\"\(key)\" stands here twice")
      }
      guard try take(":") else { throw wrong("a colon is missing behind \"\(key)\"") }
      members.append(JSONNode.Member(key: key, offset: offset, value: try node(depth: depth - 1)))
    } while try take(",")
    guard try take("}") else { throw wrong("a comma or } is missing") }
    return members
  }

  private mutating func elements(_ depth: Int) throws(JSONSyntaxError) -> [JSONNode] {
    at += 1
    var elements: [JSONNode] = []
    if try take("]") { return elements }
    repeat { elements.append(try node(depth: depth - 1)) } while try take(",")
    guard try take("]") else { throw wrong("a comma or ] is missing") }
    return elements
  }

  private mutating func word() throws(JSONSyntaxError) -> JSONNode.Value {
    let start = at
    while at < bytes.count, isWordByte(bytes[at]) { at += 1 }
    let word = String(decoding: bytes[start..<at], as: UTF8.self)
    switch word {
    case "null": return .null
    case "true": return .boolean(true)
    case "false": return .boolean(false)
    default: break
    }
    let isNumber = word.utf8.first.map { $0 == UInt8(ascii: "-") || 0x30...0x39 ~= $0 } ?? false
    guard isNumber, let number = Double(word), number.isFinite else {
      throw JSONSyntaxError(
        offset: start, text: word.isEmpty ? "a value is missing" : "\(word) is no value")
    }
    return .number(number)
  }

  private func isWordByte(_ byte: UInt8) -> Bool {
    0x30...0x39 ~= byte || 0x61...0x7A ~= byte || 0x41...0x5A ~= byte || "+-.".utf8.contains(byte)
  }

  private mutating func text() throws(JSONSyntaxError) -> String {
    at += 1
    var utf8: [UInt8] = []
    while true {
      guard at < bytes.count, bytes[at] >= 0x20 else { throw wrong("a text has no end") }
      let byte = bytes[at]
      at += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: utf8, as: UTF8.self)
      case UInt8(ascii: "\\"): utf8 += try escape()
      default: utf8.append(byte)
      }
    }
  }

  private mutating func escape() throws(JSONSyntaxError) -> [UInt8] {
    guard at < bytes.count else { throw wrong("a text has no end") }
    let byte = bytes[at]
    at += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "n"): return [10]
    case UInt8(ascii: "t"): return [9]
    case UInt8(ascii: "r"): return [13]
    case UInt8(ascii: "b"): return [8]
    case UInt8(ascii: "f"): return [12]
    case UInt8(ascii: "u"): return try unicode()
    default: throw wrong("\\\(Character(Unicode.Scalar(byte))) is no escape")
    }
  }

  private mutating func unicode() throws(JSONSyntaxError) -> [UInt8] {
    var value = UInt32(try hexUnit())
    if 0xD800..<0xDC00 ~= value, bytes[at...].starts(with: [0x5C, 0x75]) {
      at += 2
      let low = UInt32(try hexUnit())
      guard 0xDC00..<0xE000 ~= low else { throw wrong("half of a surrogate pair is missing") }
      value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(value) else { throw wrong("\\u names no character") }
    return Array(String(Character(scalar)).utf8)
  }

  private mutating func hexUnit() throws(JSONSyntaxError) -> UInt16 {
    guard at + 4 <= bytes.count,
      let value = UInt16(String(decoding: bytes[at..<at + 4], as: UTF8.self), radix: 16)
    else { throw wrong("\\u wants four hexadecimal digits") }
    at += 4
    return value
  }
}
