internal import Primitives

/// A map being read. A class, since finding a key moves its hint on and reading is not mutating.
final class KeyedReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let source: DecodingSource
  private let first: Int
  private let count: Int
  private var hint: (index: Int, position: Int)
  var codingPath: [any CodingKey] { [] }

  init(_ source: DecodingSource, _ position: Int) throws(EventDecodingError) {
    self.source = source
    var at = position
    count = try source.read(&at) { reader throws(MessagePackError) in try reader.readMapHeader() }
    first = at
    hint = (0, at)
    // `contains` and `allKeys` cannot throw, so a broken map is refused before they are asked.
    for _ in 0..<count { _ = try keyAndValue(&at) }
  }

  var allKeys: [Key] {
    var keys: [Key] = []
    var at = first
    for _ in 0..<count {
      do throws(EventDecodingError) {
        let range = try keyAndValue(&at)
        if let key = Key(stringValue: source.text(range)) { keys.append(key) }
      } catch {
        preconditionFailure("a map that was read before does not read again: \(error)")
      }
    }
    return keys
  }

  func contains(_ key: Key) -> Bool {
    do throws(EventDecodingError) {
      _ = try find(key)
      return true
    } catch {
      return false
    }
  }

  func decodeNil(forKey key: Key) throws -> Bool { source.isNil(at: try find(key)) }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try source.decode(type, at: try find(key))
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    var at = try find(key)
    return try source.read(&at, key: key.stringValue) { reader throws(MessagePackError) in
      try reader.readBool()
    }
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    var at = try find(key)
    return try source.read(&at, key: key.stringValue) { reader throws(MessagePackError) in
      try reader.readString()
    }
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    var at = try find(key)
    return try source.read(&at, key: key.stringValue) { reader throws(MessagePackError) in
      try reader.readDoubleOrExactInt()
    }
  }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    var at = try find(key)
    return try source.float(&at, key: key.stringValue)
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    var at = try find(key)
    return try source.integer(type, &at, key: key.stringValue)
  }

  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    var at = try find(key)
    return try source.integer(type, &at, key: key.stringValue)
  }

  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    var at = try find(key)
    return try source.integer(type, &at, key: key.stringValue)
  }

  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    var at = try find(key)
    return try source.integer(type, &at, key: key.stringValue)
  }

  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    var at = try find(key)
    return try source.integer(type, &at, key: key.stringValue)
  }

  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    var at = try find(key)
    return try source.integer(type, &at, key: key.stringValue)
  }

  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    var at = try find(key)
    return try source.integer(type, &at, key: key.stringValue)
  }

  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    var at = try find(key)
    return try source.integer(type, &at, key: key.stringValue)
  }

  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    var at = try find(key)
    return try source.integer(type, &at, key: key.stringValue)
  }

  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    var at = try find(key)
    return try source.integer(type, &at, key: key.stringValue)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    KeyedDecodingContainer(try KeyedReader<Nested>(source, try find(key)))
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try ListReader(source, try find(key))
  }

  func superDecoder() throws -> any Decoder { try decoder(named: "super") }

  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(named: key.stringValue) }

  private func decoder(named key: String) throws(EventDecodingError) -> PropertyDecoder {
    PropertyDecoder(source: source, position: try find(key))
  }

  @inline(__always)
  private func find(_ key: Key) throws(EventDecodingError) -> Int { try find(key.stringValue) }

  /// Where the value of `key` begins: from the hint to the end, then from the start to the hint.
  private func find(_ key: String) throws(EventDecodingError) -> Int {
    var (index, at) = hint
    for _ in 0..<count {
      if index == count { (index, at) = (0, first) }
      let range = try source.read(&at) { reader throws(MessagePackError) in
        try reader.readStringRange()
      }
      let value = at
      try source.read(&at) { reader throws(MessagePackError) in try reader.skip() }
      index += 1
      if source.hasKey(key, range) {
        hint = (index, at)
        return value
      }
    }
    throw EventDecodingError(.missing, key: key)
  }

  private func keyAndValue(_ at: inout Int) throws(EventDecodingError) -> Range<Int> {
    try source.read(&at) { reader throws(MessagePackError) in
      let range = try reader.readStringRange()
      try reader.skip()
      return range
    }
  }
}
