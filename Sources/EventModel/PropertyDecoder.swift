internal import Primitives

/// Reads a `Decodable` event straight from MessagePack.
///
/// Works on one copy of the properties (a decoder may be kept by whoever gets it, the event's bytes may
/// not). Each container knows its range; keys are looked for from where the last one was found, so
/// reading in the order of writing is one pass.
struct PropertyDecoder: Decoder {
  let source: DecodingSource
  /// Where the value begins.
  let position: Int
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  static func decode<T: Decodable>(
    _ type: T.Type, from properties: PropertyReader
  ) throws(EventDecodingError) -> T {
    let bytes = properties.map.isEmpty ? [0x80] : properties.map.copied()
    do {
      return try T(from: PropertyDecoder(source: DecodingSource(bytes), position: 0))
    } catch let error as EventDecodingError {
      throw error
    } catch {
      throw EventDecodingError(.other("\(error)"), key: "")
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(try KeyedReader<Key>(source, position))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try ListReader(source, position)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    ValueReader(source: source, position: position)
  }
}

final class DecodingSource {
  private let bytes: [UInt8]
  /// The type whose `init(from:)` runs, for the one type that is read otherwise than it says.
  var current: Any.Type = Never.self

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads at `position`, and moves it on. `key` only names the place in an error.
  @inline(__always)
  func read<T>(
    _ position: inout Int, key: String = "",
    _ body: (inout MessagePackReader) throws(MessagePackError) -> T
  ) throws(EventDecodingError) -> T {
    let bytes = bytes
    let span = unsafe bytes.span.bytes
    var reader = MessagePackReader(span, at: position)
    do throws(MessagePackError) {
      let value = try body(&reader)
      position = reader.position
      return value
    } catch {
      throw EventDecodingError(error.kind == .wrongType ? .wrongType : .malformed(error), key: key)
    }
  }

  func isNil(at position: Int) -> Bool { position < bytes.count && bytes[position] == 0xC0 }

  func isText(at position: Int) -> Bool {
    guard position < bytes.count else { return false }
    return 0xA0...0xBF ~= bytes[position] || 0xD9...0xDB ~= bytes[position]
  }

  func hasKey(_ key: String, _ range: Range<Int>) -> Bool {
    let utf8 = key.utf8
    return utf8.count == range.count && bytes[range].elementsEqual(utf8)
  }

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  func decode<T: Decodable>(_ type: T.Type, at position: Int) throws -> T {
    let outer = current
    current = type
    defer { current = outer }
    return try T(from: PropertyDecoder(source: self, position: position))
  }

  func integer<T: FixedWidthInteger>(
    _ type: T.Type, _ position: inout Int, key: String = ""
  ) throws(EventDecodingError) -> T {
    try read(&position, key: key) { reader throws(MessagePackError) in
      let start = reader.position
      if T.isSigned {
        if let value = T(exactly: try reader.readInt()) { return value }
      } else if let value = T(exactly: try reader.readUInt()) {
        return value
      }
      throw MessagePackError(.outOfRange, at: start)
    }
  }

  func float(_ position: inout Int, key: String = "") throws(EventDecodingError) -> Float {
    try read(&position, key: key) { reader throws(MessagePackError) in
      let start = reader.position
      let value = Float(try reader.readDoubleOrExactInt())
      guard value.isFinite else { throw MessagePackError(.outOfRange, at: start) }
      return value
    }
  }

  /// A double alone; where Foundation's `Date` asks for it, from the text of a time.
  func single(_ position: inout Int) throws(EventDecodingError) -> Double {
    if FoundationDate.isDate(current), isText(at: position) {
      let text = try read(&position) { reader throws(MessagePackError) in try reader.readString() }
      guard let time = Timestamp(text: text) else { throw EventDecodingError(.notATime, key: "") }
      return FoundationDate.seconds(of: time)
    }
    return try read(&position) { reader throws(MessagePackError) in
      try reader.readDoubleOrExactInt()
    }
  }
}
