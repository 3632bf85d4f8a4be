import BusProtocol
import Primitives
import ServiceRuntime

/// A moment as people write it: a time, a date, or an age. The one reader of times for all commands.
enum TimeText {
  static let forms =
    "a time as 2026-11-30T10:00:00Z, a date as 2026-11-30, or an age as 10m or 7d"

  /// Nanoseconds since 1970.
  enum Moment: Equatable {
    case known(Int64)
    /// Of a text that names no zone, and so is in whatever zone the reader has: as if it were UTC.
    case local(Int64)
  }

  /// Nanoseconds since 1970, UTC where no zone is named. `what` names the argument in the error: `--from`.
  static func nanoseconds(_ text: String, naming what: String) throws(UsageError) -> Int64 {
    switch try moment(text, naming: what) {
    case .known(let nanoseconds), .local(let nanoseconds): nanoseconds
    }
  }

  /// An age reaches back to 1971 at most: nothing is older.
  static func moment(
    _ text: String, naming what: String, orElse others: String = ""
  ) throws(UsageError) -> Moment {
    if let time = Timestamp(text: text) {
      return namesNoZone(text) ? .local(time.nanoseconds) : .known(time.nanoseconds)
    }
    // A number alone would be seconds, which nobody means who writes a year.
    if let age = Duration(argument: text), text.utf8.last.map({ $0 > UInt8(ascii: "9") }) == true {
      let time = SystemClock.realtime() - age.nanoseconds
      return .known(max(time, Timestamp.earliestPlausible.nanoseconds))
    }
    throw UsageError("\(what): '\(text)' \(fault(text)): write \(others)\(forms)")
  }

  private static func namesNoZone(_ text: String) -> Bool {
    let hasClock = text.utf8.contains { $0 | 0x20 == UInt8(ascii: "t") || $0 == UInt8(ascii: " ") }
    if hasClock { return Timestamp(text: text + "Z") != nil }
    return text.utf8.count == 8 || text.utf8.contains(UInt8(ascii: "-"))
  }

  /// What is wrong with it; completes "'1960-01-01' …".
  private static func fault(_ text: String) -> String {
    let digits = text.utf8.prefix { 0x30...0x39 ~= $0 }.count
    if digits > 0, digits == text.utf8.count, digits != 8 {
      return digits < 8 ? "is a number without a unit" : "lies outside the years 1971 to 2262"
    }
    let parts = text.utf8.prefix(10).split(separator: UInt8(ascii: "-"))
    let numbers = parts.compactMap { Int(String(decoding: $0, as: UTF8.self)) }
    guard digits == 8 || digits == 4, let year = Int(text.prefix(4)) else { return "is no time" }
    guard 1971...2262 ~= year else { return "lies outside the years 1971 to 2262" }
    if numbers.count == 3, parts.count == 3, text.utf8.count >= 10 {
      let date = CivilDate(year: year, month: numbers[1], day: numbers[2])
      if !date.isValid { return "is no day of the calendar" }
    }
    return "is no time"
  }
}

/// A place in the journal as people write it.
enum StartText {
  /// `what` names the argument in the error: `--since`.
  static func position(_ text: String, naming what: String) throws(UsageError) -> StartPosition {
    switch text {
    case "earliest": return .earliest
    case "latest": return .latest
    default: break
    }
    if let offset = UInt64(text) { return .offset(offset) }
    switch try TimeText.moment(text, naming: what, orElse: "earliest, latest, an offset, ") {
    case .known(let nanoseconds), .local(let nanoseconds): return .time(nanoseconds)
    }
  }
}
