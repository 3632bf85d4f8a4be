/// A position in MessagePack bytes that moves forward, value by value, and never past their end.
///
/// Every length is compared with what is left before it is used, and no count is believed: a reader
/// allocates nothing for a count. After an error the position is undefined. About 3 ns a value.
/// The layout of values is at the head of MessagePackWriter.swift.
public struct MessagePackReader: ~Escapable {
  public let bytes: RawSpan
  /// The next byte to be read.
  public var position: Int

  @_lifetime(copy bytes)
  @inlinable
  public init(_ bytes: RawSpan, at position: Int = 0) {
    self.bytes = bytes
    self.position = position
  }

  @inlinable
  public var isAtEnd: Bool { position >= bytes.byteCount }

  /// The type byte of the next value.
  @inlinable @inline(__always)
  public func peek() throws(MessagePackError) -> UInt8 {
    guard position < bytes.byteCount else { throw MessagePackError(.truncated, at: position) }
    return unsafe bytes.unsafeLoad(fromUncheckedByteOffset: position, as: UInt8.self)
  }

  /// Reads a nil if that is what comes next.
  @inlinable
  public mutating func readNilIfPresent() throws(MessagePackError) -> Bool {
    guard try peek() == 0xC0 else { return false }
    position += 1
    return true
  }

  @inlinable
  public mutating func readBool() throws(MessagePackError) -> Bool {
    let type = try peek()
    guard type == 0xC2 || type == 0xC3 else { throw MessagePackError(.wrongType, at: position) }
    position += 1
    return type == 0xC3
  }

  /// Reads an integer of any form that fits in 64 bits with a sign. Never a double or a bool.
  @inlinable
  public mutating func readInt() throws(MessagePackError) -> Int64 {
    let start = position
    let type = try peek()
    if type < 0x80 || type >= 0xE0 {
      position += 1
      return Int64(Int8(bitPattern: type))
    }
    position += 1
    switch type {
    case 0xCC: return Int64(try load(start, UInt8.self))
    case 0xCD: return Int64(try load(start, UInt16.self))
    case 0xCE: return Int64(try load(start, UInt32.self))
    case 0xCF:
      guard let value = Int64(exactly: try load(start, UInt64.self)) else {
        throw MessagePackError(.outOfRange, at: start)
      }
      return value
    case 0xD0: return Int64(try load(start, Int8.self))
    case 0xD1: return Int64(try load(start, Int16.self))
    case 0xD2: return Int64(try load(start, Int32.self))
    case 0xD3: return try load(start, Int64.self)
    default: throw MessagePackError(.wrongType, at: start)
    }
  }

  @inlinable
  public mutating func readUInt() throws(MessagePackError) -> UInt64 {
    let start = position
    if try peek() == 0xCF {
      position += 1
      return try load(start, UInt64.self)
    }
    guard let value = UInt64(exactly: try readInt()) else {
      throw MessagePackError(.outOfRange, at: start)
    }
    return value
  }

  /// Reads a double; a float of 32 bits becomes the double of the same value. Never an integer.
  @inlinable
  public mutating func readDouble() throws(MessagePackError) -> Double {
    let start = position
    let type = try peek()
    position += 1
    switch type {
    case 0xCA: return Double(Float(bitPattern: try load(start, UInt32.self)))
    case 0xCB: return Double(bitPattern: try load(start, UInt64.self))
    default: throw MessagePackError(.wrongType, at: start)
    }
  }

  /// The bytes of a string, not checked to be UTF-8.
  @inlinable
  @_lifetime(copy self)
  public mutating func readStringSpan() throws(MessagePackError) -> RawSpan {
    let range = try readStringRange()
    return unsafe bytes.extracting(unchecked: range)
  }

  /// Where the bytes of a string are, for those who keep the place instead of the span.
  @inlinable
  public mutating func readStringRange() throws(MessagePackError) -> Range<Int> {
    let start = position
    let type = try peek()
    position += 1
    let length: Int
    if type & 0xE0 == 0xA0 {
      length = Int(type & 0x1F)
    } else {
      switch type {
      case 0xD9: length = Int(try load(start, UInt8.self))
      case 0xDA: length = Int(try load(start, UInt16.self))
      case 0xDB: length = Int(try load(start, UInt32.self))
      default: throw MessagePackError(.wrongType, at: start)
      }
    }
    return try take(length, start)
  }

  @inlinable
  public mutating func readString() throws(MessagePackError) -> String {
    let start = position
    let range = try readStringRange()
    guard let text = String(validating: unsafe bytes.extracting(unchecked: range)) else {
      throw MessagePackError(.invalidUTF8, at: start)
    }
    return text
  }

  @inlinable
  @_lifetime(copy self)
  public mutating func readBinary() throws(MessagePackError) -> RawSpan {
    let start = position
    let type = try peek()
    position += 1
    let length: Int
    switch type {
    case 0xC4: length = Int(try load(start, UInt8.self))
    case 0xC5: length = Int(try load(start, UInt16.self))
    case 0xC6: length = Int(try load(start, UInt32.self))
    default: throw MessagePackError(.wrongType, at: start)
    }
    let range = try take(length, start)
    return unsafe bytes.extracting(unchecked: range)
  }

  /// The number of pairs that follow; at most half the bytes that are left.
  @inlinable
  public mutating func readMapHeader() throws(MessagePackError) -> Int {
    let start = position
    let count = try readCount(small: 0x80, short: 0xDE)
    guard count <= (bytes.byteCount - position) / 2 else {
      throw MessagePackError(.truncated, at: start)
    }
    return count
  }

  /// The number of elements that follow; at most the bytes that are left.
  @inlinable
  public mutating func readArrayHeader() throws(MessagePackError) -> Int {
    let start = position
    let count = try readCount(small: 0x90, short: 0xDC)
    guard count <= bytes.byteCount - position else {
      throw MessagePackError(.truncated, at: start)
    }
    return count
  }

  @inlinable @inline(__always)
  mutating func readCount(small: UInt8, short: UInt8) throws(MessagePackError) -> Int {
    let start = position
    let type = try peek()
    position += 1
    if type & 0xF0 == small { return Int(type & 0x0F) }
    if type == short { return Int(try load(start, UInt16.self)) }
    if type == short + 1 { return Int(try load(start, UInt32.self)) }
    throw MessagePackError(.wrongType, at: start)
  }

  @inlinable @inline(__always)
  mutating func load<T: FixedWidthInteger & BitwiseCopyable>(
    _ start: Int, _ type: T.Type
  ) throws(MessagePackError) -> T {
    guard bytes.byteCount - position >= MemoryLayout<T>.size else {
      throw MessagePackError(.truncated, at: start)
    }
    let value = unsafe bytes.unsafeLoadUnaligned(
      fromUncheckedByteOffset: position, as: T.self)
    position += MemoryLayout<T>.size
    return T(bigEndian: value)
  }

  @inlinable @inline(__always)
  mutating func take(_ length: Int, _ start: Int) throws(MessagePackError) -> Range<Int> {
    guard length <= bytes.byteCount - position else {
      throw MessagePackError(.truncated, at: start)
    }
    let from = position
    position += length
    return from..<position
  }
}
