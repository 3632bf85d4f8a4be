extension Timestamp {
  /// As in `2024-05-01T12:00:00.000Z`: always UTC, with 3, 6 or 9 decimals, whichever loses nothing.
  public var text: String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(30)
    appendText(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends the text: 24, 27 or 30 bytes. About 15 ns.
  public func appendText(to bytes: inout [UInt8]) {
    let text = TimestampText(self)
    unsafe bytes.append(text.bytes.span.bytes.extracting(0..<text.count))
  }

  /// Calls `body` with the text; nothing is allocated.
  public func withText(_ body: (RawSpan) -> Void) {
    let text = TimestampText(self)
    unsafe body(text.bytes.span.bytes.extracting(0..<text.count))
  }

  /// Whether `other` is just this time's text; nothing is allocated.
  public func isText(_ other: RawSpan) -> Bool {
    let text = TimestampText(self)
    return unsafe other.isEqual(to: text.bytes.span.bytes.extracting(0..<text.count))
  }
}

/// The text of a time in memory of a fixed size: 64 bits of nanoseconds reach from 1677 to 2262, so the
/// year has four digits.
private struct TimestampText {
  private(set) var bytes: [30 of UInt8] = .init(repeating: 0)
  private(set) var count = 0

  init(_ time: Timestamp) {
    let second: Int64 = 1_000_000_000
    let fraction = time.nanoseconds.remainderFloored(second)
    let seconds = (time.nanoseconds - fraction) / second
    let daySeconds = seconds.remainderFloored(86_400)
    let date = CivilDate(daysSince1970: Int((seconds - daySeconds) / 86_400))
    let clock = UInt32(truncatingIfNeeded: daySeconds)
    let year = UInt32(truncatingIfNeeded: date.year)
    unsafe withUnsafeMutableBytes(of: &bytes) { text in
      unsafe Self.put(year / 100, text, 0)
      unsafe Self.put(year % 100, text, 2, then: "-")
      unsafe Self.put(UInt32(truncatingIfNeeded: date.month), text, 5, then: "-")
      unsafe Self.put(UInt32(truncatingIfNeeded: date.day), text, 8, then: "T")
      unsafe Self.put(clock / 3600, text, 11, then: ":")
      unsafe Self.put(clock / 60 % 60, text, 14, then: ":")
      unsafe Self.put(clock % 60, text, 17, then: ".")
    }
    addFraction(UInt32(truncatingIfNeeded: fraction))
  }

  /// Three, six or nine digits, whichever lose nothing.
  private mutating func addFraction(_ nanoseconds: UInt32) {
    let (micro, nano) = (nanoseconds / 1000, nanoseconds % 1000)
    let (milli, rest) = (micro / 1000, micro % 1000)
    bytes[20] = UInt8(truncatingIfNeeded: 48 + milli / 100)
    count = 23
    unsafe withUnsafeMutableBytes(of: &bytes) { text in
      unsafe Self.put(milli % 100, text, 21)
      guard nano > 0 || rest > 0 else { return }
      unsafe text[23] = UInt8(truncatingIfNeeded: 48 + rest / 100)
      unsafe Self.put(rest % 100, text, 24)
      count = 26
      guard nano > 0 else { return }
      unsafe text[26] = UInt8(truncatingIfNeeded: 48 + nano / 100)
      unsafe Self.put(nano % 100, text, 27)
      count = 29
    }
    bytes[count] = UInt8(ascii: "Z")
    count += 1
  }

  @inline(__always)
  private static func put(
    _ value: UInt32, _ text: UnsafeMutableRawBufferPointer, _ at: Int, then end: Unicode.Scalar
  ) {
    unsafe put(value, text, at)
    unsafe text[at + 2] = UInt8(ascii: end)
  }

  @inline(__always)
  private static func put(_ value: UInt32, _ text: UnsafeMutableRawBufferPointer, _ at: Int) {
    unsafe text.storeBytes(of: DecimalDigits.pair(value), toByteOffset: at, as: UInt16.self)
  }
}

extension Int64 {
  /// The remainder that is never negative.
  fileprivate func remainderFloored(_ divisor: Int64) -> Int64 {
    let rest = self % divisor
    return rest < 0 ? rest + divisor : rest
  }
}

/// A day of the Gregorian calendar, reached back and forth without end.
public struct CivilDate: Hashable, Sendable {
  public var year: Int
  public var month: Int
  public var day: Int

  public init(year: Int, month: Int, day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

  // Both directions after Howard Hinnant, "chrono-compatible low-level date algorithms": years begin in
  // March, so that the leap day is the last of its year, and 400 years have 146,097 days.

  public init(daysSince1970 days: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    // In 32 bits: divisions cost half.
    let dayOfEra = UInt32(truncatingIfNeeded: shifted - era * 146_097)
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    month = Int(shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9)
    year = Int(yearOfEra) + era * 400 + (month <= 2 ? 1 : 0)
  }

  public var daysSince1970: Int {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// Whether the calendar has this day.
  public var isValid: Bool {
    guard (1...12).contains(month), day >= 1 else { return false }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return day <= lengths[month - 1]
  }
}
