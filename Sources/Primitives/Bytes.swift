#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Unsigned integers in big-endian order, in and out of raw bytes.
///
/// Reads are bounds-checked and trap outside the span: a caller checks the length of what it was given
/// first, and throws its own error. Writes append.
extension RawSpan {
  @inlinable @inline(__always)
  public func bigEndian<T: FixedWidthInteger & BitwiseCopyable>(
    at offset: Int, as type: T.Type = T.self
  ) -> T {
    T(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: T.self))
  }

  /// The bytes as an array of their own: one allocation, one copy.
  @inlinable
  public func copied() -> [UInt8] {
    unsafe withUnsafeBytes { unsafe [UInt8]($0) }
  }

  /// Whether both hold the same bytes.
  @inlinable
  public func isEqual(to other: RawSpan) -> Bool {
    guard byteCount == other.byteCount else { return false }
    return unsafe withUnsafeBytes { a in
      unsafe other.withUnsafeBytes { b in unsafe a.elementsEqualFast(b) }
    }
  }
}

extension UnsafeRawBufferPointer {
  @usableFromInline
  func elementsEqualFast(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count > 0, let a = baseAddress, let b = other.baseAddress else {
      return count == other.count
    }
    return unsafe memcmp(a, b, count) == 0
  }
}

extension [UInt8] {
  @inlinable @inline(__always)
  public mutating func appendBigEndian<T: FixedWidthInteger & BitwiseCopyable>(_ value: T) {
    unsafe Swift.withUnsafeBytes(of: value.bigEndian) { unsafe append(contentsOf: $0) }
  }

  /// Overwrites bytes already there; traps when they are not.
  @inlinable
  public mutating func storeBigEndian<T: FixedWidthInteger & BitwiseCopyable>(
    _ value: T, at offset: Int
  ) {
    precondition(offset >= 0 && offset + MemoryLayout<T>.size <= count, "store outside the bytes")
    unsafe withUnsafeMutableBytes {
      unsafe $0.storeBytes(of: value.bigEndian, toByteOffset: offset, as: T.self)
    }
  }

  @inlinable
  public mutating func append(_ span: RawSpan) {
    unsafe span.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }

  public init(utf8 text: String) { self = Array(text.utf8) }
}
