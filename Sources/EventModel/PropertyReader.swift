public import Primitives

/// Reads the properties of one event by key, from the bytes as they travelled.
///
/// Each call scans the map from its start (about 5 ns a property passed), so reading all of a few
/// properties is cheap and nothing is built before it is wanted. Of keys that stand there twice the
/// first counts. It borrows the event's bytes and cannot be kept.
public struct PropertyReader: ~Escapable {
  /// A MessagePack map.
  public let map: RawSpan

  /// `map` must be one MessagePack map; empty bytes count as a map without members.
  @_lifetime(copy map)
  public init(_ map: RawSpan) { self.map = map }

  public func read(_ key: StaticString) throws(EventDecodingError) -> String {
    try require(key, try readIfPresent(key))
  }

  public func read(_ key: StaticString) throws(EventDecodingError) -> Int {
    try require(key, try readIfPresent(key))
  }

  public func read(_ key: StaticString) throws(EventDecodingError) -> UInt64 {
    try require(key, try readIfPresent(key))
  }

  public func read(_ key: StaticString) throws(EventDecodingError) -> Double {
    try require(key, try readIfPresent(key))
  }

  public func read(_ key: StaticString) throws(EventDecodingError) -> Bool {
    try require(key, try readIfPresent(key))
  }

  public func read(_ key: StaticString) throws(EventDecodingError) -> Timestamp {
    try require(key, try readIfPresent(key))
  }

  /// A case of an enum whose raw values are what travels.
  @_disfavoredOverload
  public func read<T: RawRepresentable<String>>(
    _ key: StaticString
  ) throws(EventDecodingError) -> T {
    guard let value = T(rawValue: try read(key)) else {
      throw EventDecodingError(.unknownCase, key: key)
    }
    return value
  }

  /// Any value, whole; nil when the key is not there.
  public func value(_ key: StaticString) throws(EventDecodingError) -> PropertyValue? {
    try find(key) { reader throws(MessagePackError) in try PropertyValue(from: &reader) }
  }

  /// All members in order.
  public func all() throws(EventDecodingError) -> PropertyObject {
    if map.isEmpty { return PropertyObject() }
    var reader = MessagePackReader(map)
    do throws(MessagePackError) {
      guard case .object(let object) = try PropertyValue(from: &reader) else {
        throw MessagePackError(.wrongType, at: 0)
      }
      return object
    } catch { throw EventDecodingError(error) }
  }

  private func require<T>(_ key: StaticString, _ value: T?) throws(EventDecodingError) -> T {
    guard let value else { throw EventDecodingError(.missing, key: key) }
    return value
  }
}

// A key that is absent or null gives nil.
extension PropertyReader {
  public func readIfPresent(_ key: StaticString) throws(EventDecodingError) -> String? {
    try find(key) { reader throws(MessagePackError) in
      try reader.readNilIfPresent() ? nil : try reader.readString()
    } ?? nil
  }

  public func readIfPresent(_ key: StaticString) throws(EventDecodingError) -> Int? {
    try find(key) { reader throws(MessagePackError) in
      try reader.readNilIfPresent() ? nil : Int(try reader.readInt())
    } ?? nil
  }

  public func readIfPresent(_ key: StaticString) throws(EventDecodingError) -> UInt64? {
    try find(key) { reader throws(MessagePackError) in
      try reader.readNilIfPresent() ? nil : try reader.readUInt()
    } ?? nil
  }

  /// Also takes a whole number that a double holds exactly: a client in JavaScript has one kind of
  /// number and sends `5` for 5.0. The other way round, and for bools, types are never mixed.
  public func readIfPresent(_ key: StaticString) throws(EventDecodingError) -> Double? {
    try find(key) { reader throws(MessagePackError) in
      try reader.readNilIfPresent() ? nil : try reader.readDoubleOrExactInt()
    } ?? nil
  }

  public func readIfPresent(_ key: StaticString) throws(EventDecodingError) -> Bool? {
    try find(key) { reader throws(MessagePackError) in
      try reader.readNilIfPresent() ? nil : try reader.readBool()
    } ?? nil
  }

  public func readIfPresent(_ key: StaticString) throws(EventDecodingError) -> Timestamp? {
    guard let text: String = try readIfPresent(key) else { return nil }
    guard let time = Timestamp(text: text) else { throw EventDecodingError(.notATime, key: key) }
    return time
  }

  @inline(__always)
  private func find<T>(
    _ key: StaticString, _ body: (inout MessagePackReader) throws(MessagePackError) -> T
  ) throws(EventDecodingError) -> T? {
    if map.isEmpty { return nil }
    do throws(MessagePackError) {
      var reader = MessagePackReader(map)
      for _ in 0..<(try reader.readMapHeader()) {
        let range = try reader.readStringRange()
        if unsafe map.extracting(unchecked: range).isEqual(to: key) { return try body(&reader) }
        try reader.skip()
      }
      return nil
    } catch { throw EventDecodingError(error, key: key) }
  }
}

extension RawSpan {
  @inline(__always)
  func isEqual(to key: StaticString) -> Bool {
    guard byteCount == key.utf8CodeUnitCount else { return false }
    return unsafe withUnsafeBytes { bytes in
      let key = unsafe UnsafeRawBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
      return unsafe bytes.elementsEqual(key)
    }
  }
}

extension MessagePackReader {
  mutating func readDoubleOrExactInt() throws(MessagePackError) -> Double {
    let type = try peek()
    if type == 0xCB || type == 0xCA { return try readDouble() }
    let start = position
    guard let value = Double(exactly: try readInt()) else {
      throw MessagePackError(.outOfRange, at: start)
    }
    return value
  }
}
