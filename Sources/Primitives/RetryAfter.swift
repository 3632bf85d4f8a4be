/// The value of `Retry-After` (RFC 9110, 10.2.3): seconds, or a date.
public enum RetryAfter {
  /// How long to wait; nil when there is nothing to go by: no value, one that cannot be read, or a
  /// negative one. At most `longest`. A date that has passed means at once.
  public static func duration(
    _ value: String?, at now: Timestamp, longest: Duration = .seconds(3600)
  ) -> Duration? {
    guard let value else { return nil }
    let text = trimmed(value)
    if let seconds = seconds(text) {
      guard seconds >= 0 else { return nil }
      return min(.nanoseconds(Int64(min(seconds, 1e9) * 1e9)), longest)
    }
    guard let date = Timestamp(httpDate: text) else { return nil }
    let (wait, overflow) = date.nanoseconds.subtractingReportingOverflow(now.nanoseconds)
    guard !overflow, wait > 0 else { return .zero }
    return min(.nanoseconds(wait), longest)
  }

  /// Digits, a sign and a point only: `Double` reads more than that.
  private static func seconds(_ text: String) -> Double? {
    guard text.utf8.contains(where: { (48...57).contains($0) }),
      text.utf8.allSatisfy({ (48...57).contains($0) || "+-.".utf8.contains($0) })
    else { return nil }
    return Double(text)
  }

  private static func trimmed(_ text: String) -> String {
    var bytes = text.utf8[...]
    while let first = bytes.first, first <= 0x20 { bytes.removeFirst() }
    while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension Timestamp {
  /// The three forms that RFC 9110 wants read (5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`,
  /// `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`. Always UTC.
  init?(httpDate text: String) {
    let words = text.split { " ,-".contains($0) }.map(String.init)
    let day: String
    let month: String
    let year: String
    let time: String
    switch words.count {
    case 6:
      guard ["GMT", "UTC"].contains(words[5].uppercased()) else { return nil }
      (day, month, year, time) = (words[1], words[2], words[3], words[4])
    case 5: (month, day, time, year) = (words[1], words[2], words[3], words[4])
    default: return nil
    }
    let months = "JanFebMarAprMayJunJulAugSepOctNovDec"
    guard month.utf8.count == 3, let place = months.range(of: month) else { return nil }
    let clock = time.split(separator: ":").map { UInt8($0) ?? 99 }
    guard let day = UInt8(day), (1...31).contains(day), var year = Int(year), (0...9999) ~= year,
      clock.count == 3, clock[0] < 24, clock[1] < 60, clock[2] <= 60
    else { return nil }
    // Two digits mean this century or, more than 50 years ahead, the last: 1994 in its time.
    if year < 100 { year += year >= 76 ? 1900 : 2000 }
    let date = CivilDate(year: year, month: place / 3 + 1, day: Int(day))
    let seconds =
      Int64(date.daysSince1970) * 86_400 + Int64(clock[0]) * 3600 + Int64(clock[1]) * 60
      + Int64(clock[2])
    let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    self.init(nanoseconds: overflow ? (seconds < 0 ? .min : .max) : nanoseconds)
  }
}

extension String {
  /// Where `part` begins, at a multiple of three bytes.
  fileprivate func range(of part: String) -> Int? {
    let (whole, part) = (Array(utf8), Array(part.utf8))
    return stride(from: 0, to: whole.count, by: 3).first { Array(whole[$0..<$0 + 3]) == part }
  }
}
