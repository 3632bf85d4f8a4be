// Times as people write them. Accepted:
//
//   date       2024-05-01 · 20240501 · 2024-122 (day of the year)
//   separator  T, t or one blank
//   time       12:00 · 12:00:00 · 1200 · 120000, then an optional fraction after . or , (any number of
//              digits; those after the ninth are dropped) · 24:00:00 is the midnight that ends the day ·
//              a second of 60 (a leap second) is the first of the next minute
//   zone       Z, z · +02:00 · +0200 · +02; none means UTC, and so does a date alone
//   numbers    only digits, with an optional fraction: as Timestamp(number:); 8 digits are a date
//
// Everything else is nil: impossible dates, zones beyond 18 hours, years outside 1971 to 2262, other
// digits than 0 to 9, blanks around it.

extension Timestamp {
  /// Reads a time as people write it; nil when it is none, or an implausible one. About 20 ns.
  public init?(text: RawSpan) {
    var parser = TimestampParser(length: text.byteCount)
    guard let time = parser.parse(text), time.isPlausible else { return nil }
    self = time
  }

  public init?(text: String) {
    let bytes = Array(text.utf8)
    unsafe self.init(text: bytes.span.bytes)
  }
}

private struct TimestampParser {
  var at = 0
  let length: Int

  init(length: Int) { self.length = length }

  mutating func parse(_ text: RawSpan) -> Timestamp? {
    // The longest form has 39 bytes with nine decimals; more decimals are allowed, a novel is not.
    guard length >= 8, length <= 64 else { return length > 0 ? number(text) : nil }
    let run = digitRun(text, at: 0)
    if run == length || (run > 8 && text.byte(run) == UInt8(ascii: ".")) {
      return run == 8 && run == length ? time(text) : number(text)
    }
    return time(text)
  }

  private mutating func time(_ text: RawSpan) -> Timestamp? {
    guard let date = date(text) else { return nil }
    var seconds = Int64(date.daysSince1970) * 86_400
    var fraction: Int64 = 0
    if at < length {
      let separator = text.byte(at)
      guard separator | 0x20 == UInt8(ascii: "t") || separator == UInt8(ascii: " ") else {
        return nil
      }
      at += 1
      guard let clock = clock(text) else { return nil }
      seconds += clock
      guard let parsed = self.fraction(text), let zone = zone(text) else { return nil }
      fraction = parsed
      seconds -= zone
    }
    guard at == length, seconds >= 0 else { return nil }
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflow2) = whole.addingReportingOverflow(fraction)
    return overflow || overflow2 ? nil : Timestamp(nanoseconds: sum)
  }

  private mutating func date(_ text: RawSpan) -> CivilDate? {
    guard let year = digits(4, text) else { return nil }
    let isExtended = at < length && text.byte(at) == UInt8(ascii: "-")
    if isExtended { at += 1 }
    if isExtended && digitRun(text, at: at) == 3 {
      guard let ordinal = digits(3, text), ordinal >= 1 else { return nil }
      let first = CivilDate(year: year, month: 1, day: 1).daysSince1970
      let date = CivilDate(daysSince1970: first + ordinal - 1)
      return date.year == year ? date : nil
    }
    guard let month = digits(2, text) else { return nil }
    if isExtended {
      guard at < length, text.byte(at) == UInt8(ascii: "-") else { return nil }
      at += 1
    }
    guard let day = digits(2, text) else { return nil }
    let date = CivilDate(year: year, month: month, day: day)
    return date.isValid ? date : nil
  }

  /// Seconds of the day.
  private mutating func clock(_ text: RawSpan) -> Int64? {
    guard let hour = digits(2, text) else { return nil }
    let isExtended = at < length && text.byte(at) == UInt8(ascii: ":")
    if isExtended { at += 1 }
    guard let minute = digits(2, text) else { return nil }
    var second = 0
    if at < length, isExtended ? text.byte(at) == UInt8(ascii: ":") : text.isDigit(at) {
      if isExtended { at += 1 }
      guard let given = digits(2, text) else { return nil }
      second = given
    }
    let isEndOfDay = hour == 24 && minute == 0 && second == 0
    guard (hour < 24 || isEndOfDay), minute < 60, second <= 60 else { return nil }
    return Int64(hour * 3600 + minute * 60 + second)
  }

  /// Nanoseconds.
  private mutating func fraction(_ text: RawSpan) -> Int64? {
    guard at < length, text.byte(at) == UInt8(ascii: ".") || text.byte(at) == UInt8(ascii: ",")
    else { return 0 }
    at += 1
    var value: Int64 = 0
    var unit: Int64 = 100_000_000
    let start = at
    while at < length, text.isDigit(at) {
      value += Int64(text.byte(at) - UInt8(ascii: "0")) * unit
      unit /= 10
      at += 1
    }
    return at > start ? value : nil
  }

  /// Seconds east of Greenwich.
  private mutating func zone(_ text: RawSpan) -> Int64? {
    guard at < length else { return 0 }
    let sign = text.byte(at)
    at += 1
    if sign | 0x20 == UInt8(ascii: "z") { return 0 }
    guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
    guard let hours = digits(2, text) else { return nil }
    var minutes = 0
    if at < length {
      if text.byte(at) == UInt8(ascii: ":") { at += 1 }
      guard let given = digits(2, text) else { return nil }
      minutes = given
    }
    guard hours <= 18, minutes < 60 else { return nil }
    let seconds = Int64(hours * 3600 + minutes * 60)
    return sign == UInt8(ascii: "-") ? -seconds : seconds
  }

  /// A text of digits only: the number it shows.
  private func number(_ text: RawSpan) -> Timestamp? {
    let run = digitRun(text, at: 0)
    guard run > 0, run < 19 else {
      return run == 19 && run == length ? wholeNumber(text, run) : nil
    }
    guard run < length else { return wholeNumber(text, run) }
    let shown = String(validating: text).flatMap { Double($0) }
    guard text.byte(run) == UInt8(ascii: "."), let shown else { return nil }
    return Timestamp(number: shown)
  }

  private func wholeNumber(_ text: RawSpan, _ count: Int) -> Timestamp? {
    var value: Int64 = 0
    for index in 0..<count {
      let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, overflow2) = tens.addingReportingOverflow(
        Int64(text.byte(index) - UInt8(ascii: "0")))
      if overflow || overflow2 { return nil }
      value = sum
    }
    return Timestamp(number: value)
  }

  private mutating func digits(_ count: Int, _ text: RawSpan) -> Int? {
    guard at + count <= length else { return nil }
    var value = 0
    for index in at..<at + count {
      guard text.isDigit(index) else { return nil }
      value = value * 10 + Int(text.byte(index) - UInt8(ascii: "0"))
    }
    at += count
    return value
  }

  private func digitRun(_ text: RawSpan, at start: Int) -> Int {
    var end = start
    while end < length, text.isDigit(end) { end += 1 }
    return end - start
  }
}

extension RawSpan {
  fileprivate func byte(_ index: Int) -> UInt8 {
    unsafe unsafeLoad(fromByteOffset: index, as: UInt8.self)
  }

  fileprivate func isDigit(_ index: Int) -> Bool {
    byte(index) &- UInt8(ascii: "0") < 10
  }
}
