internal import Primitives

/// MessagePack written into memory that somebody else owns and has made large enough.
///
/// Appending to an array costs a check for uniqueness and room at each byte; here each value compares
/// with the capacity once. Too little room is our bug, so it traps. Lives within one
/// `withUnsafeMutableBytes`.
@safe struct PackedOutput {
  private let base: UnsafeMutableRawPointer
  private let capacity: Int
  private(set) var count = 0

  init(_ memory: UnsafeMutableRawBufferPointer) {
    precondition(memory.count > 0, "output needs memory")
    unsafe base = memory.baseAddress.unsafelyUnwrapped
    capacity = memory.count
  }

  /// Bytes that JSON of `count` bytes has at most as MessagePack: the worst is `1e0` with nine.
  static func capacity(forJSON count: Int) -> Int { 3 * count + 64 }

  @inline(__always)
  private mutating func reserve(_ length: Int) -> UnsafeMutableRawPointer {
    precondition(length <= capacity - count, "the output is larger than was reckoned")
    defer { count += length }
    return unsafe base + count
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    unsafe reserve(1).storeBytes(of: byte, as: UInt8.self)
  }

  /// A type byte and a number, big endian.
  @inline(__always)
  mutating func append<T: FixedWidthInteger & BitwiseCopyable>(_ type: UInt8, _ value: T) {
    let place = unsafe reserve(1 + MemoryLayout<T>.size)
    unsafe place.storeBytes(of: type, as: UInt8.self)
    unsafe (place + 1).storeBytes(of: value.bigEndian, as: T.self)
  }

  @inline(__always)
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    unsafe reserve(bytes.count).copyMemory(from: start, byteCount: bytes.count)
  }

  @inline(__always)
  mutating func append(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe append($0) }
  }

  @inline(__always)
  mutating func textHead(_ length: Int) {
    if length < 32 {
      append(0xA0 | UInt8(truncatingIfNeeded: length))
    } else if length < 256 {
      append(0xD9, UInt8(truncatingIfNeeded: length))
    } else if length < 65536 {
      append(0xDA, UInt16(truncatingIfNeeded: length))
    } else {
      append(0xDB, UInt32(truncatingIfNeeded: length))
    }
  }

  @inline(__always)
  mutating func text(_ text: StaticString) {
    textHead(text.utf8CodeUnitCount)
    unsafe append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  mutating func text(_ utf8: RawSpan) {
    textHead(utf8.byteCount)
    append(utf8)
  }

  @inline(__always)
  mutating func integer(_ value: UInt64) {
    if value < 0x80 {
      append(UInt8(truncatingIfNeeded: value))
    } else if value < 0x100 {
      append(0xCC, UInt8(truncatingIfNeeded: value))
    } else if value < 0x1_0000 {
      append(0xCD, UInt16(truncatingIfNeeded: value))
    } else if value < 0x1_0000_0000 {
      append(0xCE, UInt32(truncatingIfNeeded: value))
    } else {
      append(0xCF, value)
    }
  }

  mutating func integer(_ value: Int64) {
    if value >= 0 {
      integer(UInt64(value))
    } else if value >= -32 {
      append(UInt8(truncatingIfNeeded: value))
    } else if value >= -0x80 {
      append(0xD0, UInt8(truncatingIfNeeded: value))
    } else if value >= -0x8000 {
      append(0xD1, UInt16(truncatingIfNeeded: value))
    } else if value >= -0x8000_0000 {
      append(0xD2, UInt32(truncatingIfNeeded: value))
    } else {
      append(0xD3, UInt64(truncatingIfNeeded: value))
    }
  }

  /// Gives the container whose head of one byte is at `head` its count. The members are moved on where
  /// 16 and more of them need a longer head.
  mutating func close(head: Int, _ members: Int, small: UInt8, wide: UInt8) {
    precondition(head < count, "a head outside the output")
    guard members >= 16 else {
      return unsafe base.storeBytes(
        of: small | UInt8(truncatingIfNeeded: members), toByteOffset: head, as: UInt8.self)
    }
    let extra = members < 65536 ? 2 : 4
    let length = count - head - 1
    _ = unsafe reserve(extra)
    unsafe (base + head + 1 + extra).copyMemory(from: base + head + 1, byteCount: length)
    let type = members < 65536 ? wide : wide + 1
    unsafe base.storeBytes(of: type, toByteOffset: head, as: UInt8.self)
    if members < 65536 {
      unsafe base.storeBytes(
        of: UInt16(truncatingIfNeeded: members).bigEndian, toByteOffset: head + 1, as: UInt16.self)
    } else {
      unsafe base.storeBytes(
        of: UInt32(truncatingIfNeeded: members).bigEndian, toByteOffset: head + 1, as: UInt32.self)
    }
  }

  /// Calls `body` with what was written.
  @inline(__always)
  func withWritten<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    unsafe body(UnsafeRawBufferPointer(start: base, count: count))
  }

  /// Whether two places that were written hold the same bytes.
  @inline(__always)
  func isSame(_ a: Range<Int>, _ b: Range<Int>) -> Bool {
    guard a.count == b.count else { return false }
    precondition(a.upperBound <= count && b.upperBound <= count, "places outside the output")
    for offset in 0..<a.count {
      let one = unsafe base.load(fromByteOffset: a.lowerBound + offset, as: UInt8.self)
      let other = unsafe base.load(fromByteOffset: b.lowerBound + offset, as: UInt8.self)
      if one != other { return false }
    }
    return true
  }
}
