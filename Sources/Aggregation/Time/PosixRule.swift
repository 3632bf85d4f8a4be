internal import Primitives

/// What a zone does in years to come, as the footer of its file says: `EST5EDT,M3.2.0,M11.1.0`.
///
/// POSIX: a name, its offset west of UTC, then for daylight time a name, an offset (one hour ahead unless
/// given), and when it begins and ends: `Mm.w.d` (week 5 is the last), `Jn` (29 February not counted) or
/// `n`, with `/time` (02:00 unless given; -167 to 167 hours).
struct PosixRule: Sendable, Equatable {
  private enum Day: Sendable, Equatable {
    case month(Int, week: Int, weekday: Int)
    case julian(Int)
    case zeroBased(Int)
  }

  private struct Change: Sendable, Equatable {
    var day: Day
    var seconds: Int
  }

  let standard: Int
  private let daylight: Int
  private let changes: (begin: Change, end: Change)?

  static func == (a: PosixRule, b: PosixRule) -> Bool {
    a.standard == b.standard && a.daylight == b.daylight && a.changes?.begin == b.changes?.begin
      && a.changes?.end == b.changes?.end
  }

  init?(_ text: String) {
    var scanner = Scanner(bytes: Array(text.utf8))
    guard scanner.name(), let west = scanner.time() else { return nil }
    standard = -west
    guard scanner.name() else {
      guard scanner.isAtEnd else { return nil }
      (daylight, changes) = (standard, nil)
      return
    }
    daylight = scanner.next == UInt8(ascii: ",") ? standard + 3600 : -(scanner.time() ?? 0)
    guard let begin = scanner.change(), let end = scanner.change(), scanner.isAtEnd else {
      return nil
    }
    changes = (begin, end)
  }

  /// The changes of a year, in order.
  func transitions(in year: Int) -> [ZoneFile.Transition] {
    guard let changes else { return [] }
    let begin = Self.seconds(changes.begin, year) - Int64(standard)
    let end = Self.seconds(changes.end, year) - Int64(daylight)
    return [
      ZoneFile.Transition(time: begin, offset: daylight),
      ZoneFile.Transition(time: end, offset: standard),
    ].sorted { $0.time < $1.time }
  }

  private static func seconds(_ change: Change, _ year: Int) -> Int64 {
    let newYear = CivilDate(year: year, month: 1, day: 1).daysSince1970
    let day =
      switch change.day {
      case .zeroBased(let number): newYear + number
      case .julian(let number):
        newYear + number - 1
          + (number >= 60 && CivilDate(year: year, month: 2, day: 29).isValid ? 1 : 0)
      case .month(let month, let week, let weekday): weekDay(year, month, week, weekday)
      }
    return Int64(day) * 86_400 + Int64(change.seconds)
  }

  private static func weekDay(_ year: Int, _ month: Int, _ week: Int, _ weekday: Int) -> Int {
    let first = CivilDate(year: year, month: month, day: 1).daysSince1970
    // 1 January 1970 was a Thursday.
    let firstWeekday = ((first + 4) % 7 + 7) % 7
    let day = first + (weekday - firstWeekday + 7) % 7 + (week - 1) * 7
    let next = CivilDate(
      year: month == 12 ? year + 1 : year, month: month % 12 + 1, day: 1
    ).daysSince1970
    return day < next ? day : day - 7
  }

  private struct Scanner {
    let bytes: [UInt8]
    var at = 0

    var isAtEnd: Bool { at == bytes.count }
    var next: UInt8? { at < bytes.count ? bytes[at] : nil }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard next == UInt8(ascii: character) else { return false }
      at += 1
      return true
    }

    /// `EST` or `<+0330>`.
    mutating func name() -> Bool {
      let start = at
      if take("<") {
        while let byte = next, byte != UInt8(ascii: ">") { at += 1 }
        return take(">")
      }
      while let byte = next, byte | 0x20 >= UInt8(ascii: "a"), byte | 0x20 <= UInt8(ascii: "z") {
        at += 1
      }
      return at >= start + 3
    }

    mutating func number() -> Int? {
      var value: Int?
      while let byte = next, 0x30...0x39 ~= byte, value ?? 0 < 100_000 {
        value = (value ?? 0) * 10 + Int(byte - 0x30)
        at += 1
      }
      return value
    }

    /// `[+-]hh[:mm[:ss]]` in seconds.
    mutating func time() -> Int? {
      let sign = take("-") ? -1 : 1
      if sign == 1 { _ = take("+") }
      guard let hours = number() else { return nil }
      var seconds = hours * 3600
      if take(":") { seconds += (number() ?? 0) * 60 }
      if take(":") { seconds += number() ?? 0 }
      return sign * seconds
    }

    mutating func change() -> Change? {
      guard take(","), let day = day() else { return nil }
      if take("/") {
        guard let seconds = time() else { return nil }
        return Change(day: day, seconds: seconds)
      }
      return Change(day: day, seconds: 7200)
    }

    private mutating func day() -> Day? {
      if take("M") {
        guard let month = number(), take("."), let week = number(), take("."),
          let weekday = number(), 1...12 ~= month, 1...5 ~= week, 0...6 ~= weekday
        else { return nil }
        return .month(month, week: week, weekday: weekday)
      }
      if take("J") { return number().flatMap { 1...365 ~= $0 ? .julian($0) : nil } }
      return number().flatMap { 0...365 ~= $0 ? .zeroBased($0) : nil }
    }
  }
}
