/// A moment: nanoseconds since 1970-01-01T00:00:00 UTC, without leap seconds. Reaches to 2262.
public struct Timestamp: Hashable, Comparable, Sendable {
  public var nanoseconds: Int64

  @inlinable
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The system's clock. Shells call it and pass the time on.
  public static func now() -> Timestamp { Timestamp(nanoseconds: SystemClock.realtime()) }

  @inlinable
  public static func < (a: Timestamp, b: Timestamp) -> Bool { a.nanoseconds < b.nanoseconds }

  /// Outside these years a number or a text given as a time is taken for a mistake.
  public static let earliestPlausible = Timestamp(nanoseconds: 31_536_000 * 1_000_000_000)  // 1971
  /// The last second that 64 bits of nanoseconds reach, in April 2262.
  public static let latestPlausible = Timestamp(nanoseconds: 9_223_372_036_000_000_000)

  public var isPlausible: Bool { self >= .earliestPlausible && self <= .latestPlausible }
}

extension Timestamp {
  /// The time that a number means: below 1e11 it counts seconds, below 1e14 milliseconds, below 1e17
  /// microseconds, else nanoseconds. Nil when that is before 1971 or after 2262.
  public init?(number: Int64) {
    let unit: Int64
    switch number {
    case ..<0: return nil
    case ..<100_000_000_000: unit = 1_000_000_000
    case ..<100_000_000_000_000: unit = 1_000_000
    case ..<100_000_000_000_000_000: unit = 1000
    default: unit = 1
    }
    let (nanoseconds, overflow) = number.multipliedReportingOverflow(by: unit)
    guard !overflow else { return nil }
    self.init(nanoseconds: nanoseconds)
    guard isPlausible else { return nil }
  }

  /// As for a whole number; the fraction counts, as exactly as the double has it (a double of seconds
  /// is exact to about 0.2 microseconds in this century, so it is rounded to whole microseconds).
  public init?(number: Double) {
    guard number.isFinite, number >= 0, number < 9.3e18 else { return nil }
    let whole = number.rounded(.down)
    let fraction = number - whole
    guard let base = Timestamp(number: Int64(whole)) else { return nil }
    let unit: Double =
      whole < 1e11 ? 1_000_000_000 : whole < 1e14 ? 1_000_000 : whole < 1e17 ? 1000 : 1
    let rest = Int64((fraction * unit / 1000).rounded()) * 1000
    self.init(nanoseconds: base.nanoseconds + (unit > 1000 ? rest : 0))
  }
}
