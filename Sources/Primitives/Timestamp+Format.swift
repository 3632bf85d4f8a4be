extension Timestamp {
  /// Bytes that a text has at most.
  public static let longestText = 30

  /// As in `2024-05-01T12:00:00.000Z`: always UTC, with 3, 6 or 9 decimals, whichever loses nothing.
  public var text: String {
    var bytes: [UInt8] = []
    appendText(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends the text: 24, 27 or 30 bytes. About 10 ns.
  public func appendText(to bytes: inout [UInt8]) {
    bytes.append(addingCapacity: Self.longestText) { space in
      unsafe space.withUnsafeMutableBufferPointer { memory, count in
        let start = unsafe UnsafeMutableRawBufferPointer(memory).baseAddress.unsafelyUnwrapped
        count += unsafe writeText(to: start + count)
      }
    }
  }

  /// Whether `other` is just this time's text; nothing is allocated.
  public func isText(_ other: RawSpan) -> Bool {
    var bytes: [30 of UInt8] = .init(repeating: 0)
    let count = unsafe withUnsafeMutableBytes(of: &bytes) {
      unsafe writeText(to: $0.baseAddress.unsafelyUnwrapped)
    }
    return unsafe other.isEqual(to: bytes.span.bytes.extracting(0..<count))
  }

  /// Writes the text into memory that has room for `longestText` bytes, and returns how many it has.
  ///
  /// 64 bits of nanoseconds reach from 1677 to 2262, so the year has four digits.
  @unsafe public func writeText(to memory: UnsafeMutableRawPointer) -> Int {
    let text = unsafe TextMemory(start: memory)
    let (seconds, fraction) = nanoseconds.floored(by: 1_000_000_000)
    let (days, clock) = seconds.floored(by: 86_400)
    let date = CivilDate(daysSince1970: Int(days))
    let (century, year) = UInt32(truncatingIfNeeded: date.year)
      .quotientAndRemainder(dividingBy: 100)
    let (minutes, second) = UInt32(truncatingIfNeeded: clock).quotientAndRemainder(dividingBy: 60)
    let (hour, minute) = minutes.quotientAndRemainder(dividingBy: 60)
    text.put(century, 0)
    text.put(year, 2, then: "-")
    text.put(UInt32(truncatingIfNeeded: date.month), 5, then: "-")
    text.put(UInt32(truncatingIfNeeded: date.day), 8, then: "T")
    text.put(hour, 11, then: ":")
    text.put(minute, 14, then: ":")
    text.put(second, 17, then: ".")
    return text.putFraction(UInt32(truncatingIfNeeded: fraction))
  }
}

/// Where one text is written.
@safe private struct TextMemory {
  let start: UnsafeMutableRawPointer

  @inline(__always)
  func put(_ value: UInt32, _ place: Int, then end: Unicode.Scalar) {
    put(value, place)
    unsafe start.storeBytes(of: UInt8(ascii: end), toByteOffset: place + 2, as: UInt8.self)
  }

  @inline(__always)
  func put(_ value: UInt32, _ place: Int) {
    unsafe start.storeBytes(of: DecimalDigits.pair(value), toByteOffset: place, as: UInt16.self)
  }

  /// Three, six or nine digits from the 21st byte on, whichever lose nothing; returns where the text ends.
  @inline(__always)
  func putFraction(_ nanoseconds: UInt32) -> Int {
    let (micro, nano) = nanoseconds.quotientAndRemainder(dividingBy: 1000)
    let (milli, rest) = micro.quotientAndRemainder(dividingBy: 1000)
    var end = putThree(milli, 20)
    if nano > 0 || rest > 0 { end = putThree(rest, end) }
    if nano > 0 { end = putThree(nano, end) }
    unsafe start.storeBytes(of: UInt8(ascii: "Z"), toByteOffset: end, as: UInt8.self)
    return end + 1
  }

  @inline(__always)
  private func putThree(_ value: UInt32, _ place: Int) -> Int {
    let (hundreds, rest) = value.quotientAndRemainder(dividingBy: 100)
    unsafe start.storeBytes(
      of: UInt8(truncatingIfNeeded: 48 + hundreds), toByteOffset: place, as: UInt8.self)
    put(rest, place + 1)
    return place + 3
  }
}

extension Int64 {
  /// Quotient and remainder, the remainder never negative.
  @inline(__always)
  fileprivate func floored(by divisor: Int64) -> (Int64, Int64) {
    let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
  }
}
