internal import Primitives

struct ListReader: UnkeyedDecodingContainer {
  let source: DecodingSource
  private let total: Int
  private var position: Int
  private(set) var currentIndex = 0
  var codingPath: [any CodingKey] { [] }
  var count: Int? { total }
  var isAtEnd: Bool { currentIndex >= total }

  init(_ source: DecodingSource, _ position: Int) throws(EventDecodingError) {
    self.source = source
    var at = position
    total = try source.read(&at) { reader throws(MessagePackError) in
      try reader.readArrayHeader()
    }
    self.position = at
  }

  private mutating func next() throws(EventDecodingError) {
    guard !isAtEnd else { throw EventDecodingError(.missing, key: "[\(currentIndex)]") }
    currentIndex += 1
  }

  /// Steps over the next element and returns where it begins.
  private mutating func step() throws(EventDecodingError) -> Int {
    try next()
    let start = position
    try source.read(&position) { reader throws(MessagePackError) in try reader.skip() }
    return start
  }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd, source.isNil(at: position) else { return false }
    currentIndex += 1
    position += 1
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try source.decode(type, at: try step())
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool {
    try next()
    return try source.read(&position) { reader throws(MessagePackError) in try reader.readBool() }
  }

  mutating func decode(_ type: String.Type) throws -> String {
    try next()
    return try source.read(&position) { reader throws(MessagePackError) in try reader.readString() }
  }

  mutating func decode(_ type: Double.Type) throws -> Double {
    try next()
    return try source.read(&position) { reader throws(MessagePackError) in
      try reader.readDoubleOrExactInt()
    }
  }

  mutating func decode(_ type: Float.Type) throws -> Float {
    try next()
    return try source.float(&position)
  }

  mutating func decode(_ type: Int.Type) throws -> Int {
    try next()
    return try source.integer(type, &position)
  }

  mutating func decode(_ type: Int8.Type) throws -> Int8 {
    try next()
    return try source.integer(type, &position)
  }

  mutating func decode(_ type: Int16.Type) throws -> Int16 {
    try next()
    return try source.integer(type, &position)
  }

  mutating func decode(_ type: Int32.Type) throws -> Int32 {
    try next()
    return try source.integer(type, &position)
  }

  mutating func decode(_ type: Int64.Type) throws -> Int64 {
    try next()
    return try source.integer(type, &position)
  }

  mutating func decode(_ type: UInt.Type) throws -> UInt {
    try next()
    return try source.integer(type, &position)
  }

  mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
    try next()
    return try source.integer(type, &position)
  }

  mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
    try next()
    return try source.integer(type, &position)
  }

  mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
    try next()
    return try source.integer(type, &position)
  }

  mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
    try next()
    return try source.integer(type, &position)
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    KeyedDecodingContainer(try KeyedReader<Nested>(source, try step()))
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try ListReader(source, try step())
  }

  mutating func superDecoder() throws -> any Decoder {
    PropertyDecoder(source: source, position: try step())
  }
}

struct ValueReader: SingleValueDecodingContainer {
  let source: DecodingSource
  let position: Int
  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { source.isNil(at: position) }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try T(from: PropertyDecoder(source: source, position: position))
  }

  func decode(_ type: Bool.Type) throws -> Bool {
    var at = position
    return try source.read(&at) { reader throws(MessagePackError) in try reader.readBool() }
  }

  func decode(_ type: String.Type) throws -> String {
    var at = position
    return try source.read(&at) { reader throws(MessagePackError) in try reader.readString() }
  }

  func decode(_ type: Double.Type) throws -> Double {
    var at = position
    return try source.single(&at)
  }

  func decode(_ type: Float.Type) throws -> Float {
    var at = position
    return try source.float(&at)
  }

  func decode(_ type: Int.Type) throws -> Int {
    var at = position
    return try source.integer(type, &at)
  }

  func decode(_ type: Int8.Type) throws -> Int8 {
    var at = position
    return try source.integer(type, &at)
  }

  func decode(_ type: Int16.Type) throws -> Int16 {
    var at = position
    return try source.integer(type, &at)
  }

  func decode(_ type: Int32.Type) throws -> Int32 {
    var at = position
    return try source.integer(type, &at)
  }

  func decode(_ type: Int64.Type) throws -> Int64 {
    var at = position
    return try source.integer(type, &at)
  }

  func decode(_ type: UInt.Type) throws -> UInt {
    var at = position
    return try source.integer(type, &at)
  }

  func decode(_ type: UInt8.Type) throws -> UInt8 {
    var at = position
    return try source.integer(type, &at)
  }

  func decode(_ type: UInt16.Type) throws -> UInt16 {
    var at = position
    return try source.integer(type, &at)
  }

  func decode(_ type: UInt32.Type) throws -> UInt32 {
    var at = position
    return try source.integer(type, &at)
  }

  func decode(_ type: UInt64.Type) throws -> UInt64 {
    var at = position
    return try source.integer(type, &at)
  }
}
