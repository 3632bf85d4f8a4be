extension MessagePackReader {
  /// Steps over one value with all that is in it, extensions included. Checks nothing but lengths.
  ///
  /// Iterative: what is nested is a number of values still to come, so no depth exhausts the stack,
  /// and each costs a byte at least, so no count makes it run longer than the bytes.
  @inlinable
  public mutating func skip() throws(MessagePackError) {
    try skip(values: 1)
  }

  /// Steps over the next `values` values.
  @inlinable
  public mutating func skip(values: Int) throws(MessagePackError) {
    var pending = values
    while pending > 0 {
      pending -= 1
      let start = position
      let type = try peek()
      position += 1
      if type < 0x80 || type >= 0xE0 { continue }
      if type >= 0xA0 && type < 0xC0 {
        try advance(Int(type & 0x1F), start)
      } else if type < 0x90 {
        pending += Int(type & 0x0F) * 2
      } else if type < 0xA0 {
        pending += Int(type & 0x0F)
      } else {
        pending += try skipLong(type, start)
      }
    }
  }

  /// The rest of a value whose length is not in its type byte; returns how many values it contains.
  @usableFromInline
  mutating func skipLong(_ type: UInt8, _ start: Int) throws(MessagePackError) -> Int {
    switch type {
    case 0xC0, 0xC2, 0xC3: break
    case 0xCC, 0xD0: try advance(1, start)
    case 0xCD, 0xD1: try advance(2, start)
    case 0xCA, 0xCE, 0xD2: try advance(4, start)
    case 0xCB, 0xCF, 0xD3: try advance(8, start)
    case 0xC4, 0xD9: try advance(Int(try load(start, UInt8.self)), start)
    case 0xC5, 0xDA: try advance(Int(try load(start, UInt16.self)), start)
    case 0xC6, 0xDB: try advance(Int(try load(start, UInt32.self)), start)
    case 0xC7: try advance(Int(try load(start, UInt8.self)) + 1, start)
    case 0xC8: try advance(Int(try load(start, UInt16.self)) + 1, start)
    case 0xC9: try advance(Int(try load(start, UInt32.self)) + 1, start)
    case 0xD4...0xD8: try advance((1 << Int(type - 0xD4)) + 1, start)
    case 0xDC: return Int(try load(start, UInt16.self))
    case 0xDD: return try counted(Int(try load(start, UInt32.self)), start)
    case 0xDE: return Int(try load(start, UInt16.self)) * 2
    case 0xDF: return try counted(Int(try load(start, UInt32.self)) * 2, start)
    default: throw MessagePackError(.unknownType, at: start)
    }
    return 0
  }

  @usableFromInline
  func counted(_ count: Int, _ start: Int) throws(MessagePackError) -> Int {
    guard count <= bytes.byteCount - position else { throw MessagePackError(.truncated, at: start) }
    return count
  }

  @inlinable @inline(__always)
  mutating func advance(_ length: Int, _ start: Int) throws(MessagePackError) {
    guard length <= bytes.byteCount - position else {
      throw MessagePackError(.truncated, at: start)
    }
    position += length
  }
}

extension String {
  /// The text of `utf8`, or nil when it is not UTF-8. One copy.
  @inlinable
  public init?(validating utf8: RawSpan) {
    let text = unsafe utf8.withUnsafeBytes { bytes in
      unsafe String(validating: bytes, as: UTF8.self)
    }
    guard let text else { return nil }
    self = text
  }
}
