internal import Primitives

/// JSON written into memory that somebody else owns and has made large enough.
///
/// Appending to an array costs a check for uniqueness and room at each byte; here each value compares
/// with the capacity once. Too little room is our bug, so it traps. Lives within one use of that memory.
@safe struct JSONOutput {
  private let base: UnsafeMutableRawPointer
  private let capacity: Int
  private(set) var count: Int

  /// - Parameter count: bytes of `memory` that are written already.
  init(_ memory: UnsafeMutableRawBufferPointer, count: Int) {
    precondition(memory.count > 0, "output needs memory")
    unsafe base = memory.baseAddress.unsafelyUnwrapped
    capacity = memory.count
    self.count = count
  }

  /// Bytes that `count` bytes of MessagePack have at most as JSON: the worst is a control character in a
  /// text, with six. A time takes 32 for one, but its key has ten.
  static func capacity(forPacked count: Int) -> Int { 6 * count + 256 }

  @inline(__always)
  private func place(_ length: Int) -> UnsafeMutableRawPointer {
    precondition(length <= capacity - count, "the output is larger than was reckoned")
    return unsafe base + count
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    unsafe place(1).storeBytes(of: byte, as: UInt8.self)
    count += 1
  }

  @inline(__always)
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    unsafe place(bytes.count).copyMemory(from: start, byteCount: bytes.count)
    count += bytes.count
  }

  @inline(__always)
  mutating func append(_ text: StaticString) {
    unsafe append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  mutating func decimal(_ value: UInt64) {
    if value < 10 { return append(UInt8(truncatingIfNeeded: 48 + value)) }
    let digits = Self.digitCount(value)
    let start = unsafe place(digits)
    var rest = value
    var end = digits
    while rest >= 10 {
      let (quotient, pair) = rest.quotientAndRemainder(dividingBy: 100)
      end -= 2
      unsafe start.storeBytes(
        of: DecimalDigits.pair(UInt32(truncatingIfNeeded: pair)), toByteOffset: end,
        as: UInt16.self)
      rest = quotient
    }
    if end > 0 {
      unsafe start.storeBytes(of: UInt8(truncatingIfNeeded: 48 + rest), as: UInt8.self)
    }
    count += digits
  }

  private static func digitCount(_ value: UInt64) -> Int {
    var digits = 2
    var limit: UInt64 = 100
    while value >= limit {
      digits += 1
      let (next, overflow) = limit.multipliedReportingOverflow(by: 10)
      guard !overflow else { break }
      limit = next
    }
    return digits
  }

  mutating func integer(_ value: Int64) {
    if value < 0 { append(UInt8(ascii: "-")) }
    decimal(value.magnitude)
  }

  /// The shortest text that reads back as the same double, with a point or an exponent.
  mutating func double(_ value: Double) {
    // Amounts with up to two decimals and fewer than 16 digits, which are most doubles: no two such
    // texts are one double, so the plain one is the shortest.
    let hundreds = (value * 100).rounded()
    if hundreds.magnitude < 1e13, hundreds != 0, hundreds / 100 == value {
      return cents(Int64(hundreds))
    }
    var text = value.description
    text.withUTF8 { unsafe append(UnsafeRawBufferPointer($0)) }
  }

  private mutating func cents(_ value: Int64) {
    if value < 0 { append(UInt8(ascii: "-")) }
    let (whole, rest) = value.magnitude.quotientAndRemainder(dividingBy: 100)
    decimal(whole)
    append(UInt8(ascii: "."))
    append(UInt8(truncatingIfNeeded: 48 + rest / 10))
    if rest % 10 != 0 { append(UInt8(truncatingIfNeeded: 48 + rest % 10)) }
  }

  /// With its quotes.
  mutating func time(_ nanoseconds: Int64) {
    let start = unsafe place(Timestamp.longestText + 2)
    let length = unsafe Timestamp(nanoseconds: nanoseconds).writeText(to: start + 1)
    unsafe start.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
    unsafe start.storeBytes(of: UInt8(ascii: "\""), toByteOffset: length + 1, as: UInt8.self)
    count += length + 2
  }
}

// Texts.
extension JSONOutput {
  /// A text with its quotes.
  mutating func text(_ utf8: RawSpan) {
    unsafe utf8.withUnsafeBytes { unsafe text($0) }
  }

  mutating func text(_ bytes: UnsafeRawBufferPointer) {
    let length = bytes.count
    // Room for every byte escaped is reckoned; what is compared here is enough for plain bytes.
    let start = unsafe place(length + 2)
    unsafe start.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
    let plain = unsafe Self.copyPlain(bytes, to: start + 1)
    count += plain + 1
    if plain < length { unsafe escaping(bytes, from: plain) }
    append(UInt8(ascii: "\""))
  }

  /// Copies a text up to its first word or byte that may need an escape; returns how much that was.
  @inline(__always)
  private static func copyPlain(
    _ bytes: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer
  ) -> Int {
    let length = bytes.count
    guard length >= 4 else {
      for index in 0..<length {
        let byte = unsafe bytes[index]
        guard !mayNeedEscape(byte) else { return index }
        unsafe target.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
      }
      return length
    }
    // The last word overlaps the one before it, so that no text ends byte by byte.
    guard length >= 8 else {
      let head = unsafe bytes.loadUnaligned(as: UInt32.self)
      let tail = unsafe bytes.loadUnaligned(fromByteOffset: length - 4, as: UInt32.self)
      guard isPlain(UInt64(head) << 32 | UInt64(tail)) else { return 0 }
      unsafe target.storeBytes(of: head, as: UInt32.self)
      unsafe target.storeBytes(of: tail, toByteOffset: length - 4, as: UInt32.self)
      return length
    }
    var index = 0
    while index < length {
      let at = min(index, length - 8)
      let word = unsafe bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)
      guard isPlain(word) else { return index }
      unsafe target.storeBytes(of: word, toByteOffset: at, as: UInt64.self)
      index += 8
    }
    return length
  }

  /// The rest of a text from its first byte on that may need an escape.
  private mutating func escaping(_ bytes: UnsafeRawBufferPointer, from start: Int) {
    var index = start
    var plain = start
    while index < bytes.count {
      if index + 8 <= bytes.count,
        unsafe Self.isPlain(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      {
        index += 8
        continue
      }
      let length =
        unsafe Self.mayNeedEscape(bytes[index]) ? unsafe Self.escapeLength(bytes, index) : 0
      guard length > 0 else {
        index += 1
        continue
      }
      unsafe append(UnsafeRawBufferPointer(rebasing: bytes[plain..<index]))
      unsafe escape(bytes, index)
      index += length
      plain = index
    }
    unsafe append(UnsafeRawBufferPointer(rebasing: bytes[plain...]))
  }

  /// Whether no byte is a control, `"`, `\\`, U+007F or 0xE2, which begins U+2028 and U+2029.
  ///
  /// A byte below `n` borrows when `n` is taken from it. Borrows reach the bytes above, so one of those can
  /// be taken for what it is not, but only in a word that has one that is.
  @inline(__always) private static func isPlain(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let (quote, slash) = (word ^ (0x22 * ones), word ^ (0x5C * ones))
    let (delete, line) = (word ^ (0x7F * ones), word ^ (0xE2 * ones))
    let found =
      ((word &- 0x20 * ones) & ~word) | ((quote &- ones) & ~quote) | ((slash &- ones) & ~slash)
      | ((delete &- ones) & ~delete) | ((line &- ones) & ~line)
    return found & (0x80 * ones) == 0
  }

  @inline(__always) private static func mayNeedEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == 0x22 || byte == 0x5C || byte == 0x7F || byte == 0xE2
  }

  /// Bytes of the character to escape; 0 when an 0xE2 begins another than U+2028 and U+2029.
  private static func escapeLength(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> Int {
    guard unsafe bytes[index] == 0xE2 else { return 1 }
    guard index + 2 < bytes.count, unsafe bytes[index + 1] == 0x80 else { return 0 }
    return unsafe bytes[index + 2] == 0xA8 || bytes[index + 2] == 0xA9 ? 3 : 0
  }

  private mutating func escape(_ bytes: UnsafeRawBufferPointer, _ index: Int) {
    let byte = unsafe bytes[index]
    switch byte {
    case 0x22: append("\\\"")
    case 0x5C: append("\\\\")
    case 0x0A: append("\\n")
    case 0x0D: append("\\r")
    case 0x09: append("\\t")
    case 0x08: append("\\b")
    case 0x0C: append("\\f")
    case 0xE2:
      append("\\u202")
      append(unsafe bytes[index + 2] == 0xA8 ? UInt8(ascii: "8") : UInt8(ascii: "9"))
    default:
      append("\\u00")
      append(Self.digit(byte >> 4))
      append(Self.digit(byte & 15))
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? 48 + value : 87 + value
  }
}
