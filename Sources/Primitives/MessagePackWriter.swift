// MessagePack (msgpack.org, 2013), the part that events use; numbers are big endian.
//
//   nil C0 · false C2 · true C3
//   integer   00-7F and E0-FF in the type byte · CC-CF unsigned of 1, 2, 4, 8 bytes · D0-D3 signed
//   double    CB, 8 bytes                    (CA, 4 bytes, is read and never written)
//   string    A0-BF, D9, DA, DB: length in the type byte, 1, 2, 4 bytes; UTF-8
//   binary    C4, C5, C6
//   array     90-9F, DC, DD                  map  80-8F, DE, DF
//   extension C7-C9, D4-D8: skipped by readers, never written; C1 is never used
//
// The writer always takes the shortest form, so equal values give equal bytes.

/// Appends MessagePack to bytes that it owns. Reuse one writer by `removeAll`: it keeps its memory.
///
/// About 5 ns a value. Not bounded itself: who writes what others gave checks sizes first.
public struct MessagePackWriter: Sendable {
  public var bytes: [UInt8]

  /// Appends to `bytes`.
  @inlinable
  public init(appendingTo bytes: consuming [UInt8] = []) { self.bytes = bytes }

  @inlinable
  public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  @inlinable
  public mutating func writeNil() { bytes.append(0xC0) }

  @inlinable
  public mutating func write(_ value: Bool) { bytes.append(value ? 0xC3 : 0xC2) }

  @inlinable
  public mutating func write(_ value: Int) { write(Int64(value)) }

  @inlinable
  public mutating func write(_ value: Int64) {
    if value >= 0 {
      write(UInt64(value))
    } else if value >= -32 {
      bytes.append(UInt8(truncatingIfNeeded: value))
    } else if value >= -0x80 {
      bytes.append(0xD0)
      bytes.append(UInt8(truncatingIfNeeded: value))
    } else if value >= -0x8000 {
      append(0xD1, UInt16(truncatingIfNeeded: value))
    } else if value >= -0x8000_0000 {
      append(0xD2, UInt32(truncatingIfNeeded: value))
    } else {
      append(0xD3, UInt64(truncatingIfNeeded: value))
    }
  }

  @inlinable
  public mutating func write(_ value: UInt64) {
    if value < 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: value))
    } else if value < 0x100 {
      bytes.append(0xCC)
      bytes.append(UInt8(truncatingIfNeeded: value))
    } else if value < 0x1_0000 {
      append(0xCD, UInt16(truncatingIfNeeded: value))
    } else if value < 0x1_0000_0000 {
      append(0xCE, UInt32(truncatingIfNeeded: value))
    } else {
      append(0xCF, value)
    }
  }

  /// Writes any double, also those that JSON has no text for: keeping them out is the caller's rule.
  @inlinable
  public mutating func write(_ value: Double) { append(0xCB, value.bitPattern) }

  @inlinable
  public mutating func write(_ value: String) {
    let length = value.utf8.count
    writeStringHeader(length)
    // Native strings are contiguous, so this is one copy; the generic append costs three times as much.
    var value = value
    value.withUTF8 { unsafe bytes.append(contentsOf: $0) }
  }

  @inlinable
  public mutating func write(_ value: StaticString) {
    writeStringHeader(value.utf8CodeUnitCount)
    unsafe bytes.append(
      contentsOf: UnsafeBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount))
  }

  /// Writes a key and a text, the most frequent pair of events: at once when both are short, since each
  /// append to the array costs more than the copy itself.
  @inlinable
  public mutating func write(_ key: StaticString, _ value: String) {
    let keyCount = key.utf8CodeUnitCount
    var value = value
    let isWritten = value.withUTF8 { text in
      guard keyCount < 32, text.count < 32 else { return false }
      unsafe withUnsafeTemporaryAllocation(byteCount: 64, alignment: 8) { pair in
        unsafe pair[0] = 0xA0 | UInt8(truncatingIfNeeded: keyCount)
        unsafe pair.baseAddress!.advanced(by: 1).copyMemory(
          from: key.utf8Start, byteCount: keyCount)
        unsafe pair[keyCount + 1] = 0xA0 | UInt8(truncatingIfNeeded: text.count)
        if let start = text.baseAddress {
          unsafe pair.baseAddress!.advanced(by: keyCount + 2).copyMemory(
            from: start, byteCount: text.count)
        }
        unsafe bytes.append(
          contentsOf: UnsafeRawBufferPointer(rebasing: pair[..<(keyCount + 2 + text.count)]))
      }
      return true
    }
    if isWritten { return }
    write(key)
    write(value)
  }

  /// Writes `utf8` as a string; it must be UTF-8.
  @inlinable
  public mutating func writeString(utf8: RawSpan) {
    writeStringHeader(utf8.byteCount)
    bytes.append(utf8)
  }

  @inlinable
  public mutating func writeBinary(_ value: RawSpan) {
    writeHeader(value.byteCount, byte: 0xC4, short: 0xC5, long: 0xC6)
    bytes.append(value)
  }

  @inlinable
  public mutating func writeStringHeader(_ length: Int) {
    if length < 32 {
      bytes.append(0xA0 | UInt8(truncatingIfNeeded: length))
    } else {
      writeHeader(length, byte: 0xD9, short: 0xDA, long: 0xDB)
    }
  }

  @inlinable
  public mutating func writeArrayHeader(_ count: Int) {
    if count < 16 {
      bytes.append(0x90 | UInt8(truncatingIfNeeded: count))
    } else {
      writeHeader(count, byte: nil, short: 0xDC, long: 0xDD)
    }
  }

  @inlinable
  public mutating func writeMapHeader(_ count: Int) {
    if count < 16 {
      bytes.append(0x80 | UInt8(truncatingIfNeeded: count))
    } else {
      writeHeader(count, byte: nil, short: 0xDE, long: 0xDF)
    }
  }

  @inlinable
  mutating func writeHeader(_ count: Int, byte: UInt8?, short: UInt8, long: UInt8) {
    precondition(count >= 0 && count <= Int(UInt32.max), "a length of \(count) has no form")
    if let byte, count < 0x100 {
      bytes.append(byte)
      bytes.append(UInt8(truncatingIfNeeded: count))
    } else if count < 0x1_0000 {
      append(short, UInt16(truncatingIfNeeded: count))
    } else {
      append(long, UInt32(truncatingIfNeeded: count))
    }
  }

  @inlinable @inline(__always)
  mutating func append<T: FixedWidthInteger & BitwiseCopyable>(_ type: UInt8, _ value: T) {
    bytes.append(type)
    bytes.appendBigEndian(value)
  }
}

extension MessagePackWriter {
  /// A container whose count is not known yet: one byte is reserved, and `end` makes room for more in
  /// the rare case that there are 16 members or more, so the form is always the shortest.
  public struct OpenContainer: Sendable {
    @usableFromInline let start: Int
    @usableFromInline let isMap: Bool

    @usableFromInline
    init(start: Int, isMap: Bool) {
      self.start = start
      self.isMap = isMap
    }
  }

  @inlinable
  public mutating func beginMap() -> OpenContainer {
    bytes.append(0x80)
    return OpenContainer(start: bytes.count - 1, isMap: true)
  }

  @inlinable
  public mutating func beginArray() -> OpenContainer {
    bytes.append(0x90)
    return OpenContainer(start: bytes.count - 1, isMap: false)
  }

  /// Ends `container` with `count` members (pairs in a map). Inner containers end first.
  @inlinable
  public mutating func end(_ container: OpenContainer, count: Int) {
    if count < 16 {
      bytes[container.start] |= UInt8(truncatingIfNeeded: count)
    } else {
      endLong(container, count: count)
    }
  }

  /// Takes back everything from `container` on.
  @inlinable
  public mutating func cancel(_ container: OpenContainer) {
    bytes.removeSubrange(container.start...)
  }

  @usableFromInline
  mutating func endLong(_ container: OpenContainer, count: Int) {
    var header = MessagePackWriter()
    if container.isMap { header.writeMapHeader(count) } else { header.writeArrayHeader(count) }
    bytes.replaceSubrange(container.start...container.start, with: header.bytes)
  }
}
