internal import Primitives

/// How event time is cut into windows, by the clocks of a time zone. Windows are half open, follow each
/// other without a gap, and are named by their first second.
struct WindowRule: Sendable {
  enum Length: String, Sendable, CaseIterable {
    case minute, hour, day, week, month
    /// One window for all time.
    case all

    /// About how many seconds, for the choice of a chart; 0 for all time.
    var seconds: Int64 {
      switch self {
      case .minute: 60
      case .hour: 3600
      case .day: 86_400
      case .week: 604_800
      case .month: 2_629_746
      case .all: 0
      }
    }
  }

  let length: Length
  let zone: CivilTime
  private let isPlain: Bool

  init(_ length: Length, zone: CivilTime = .utc) {
    self.length = length
    self.zone = zone
    isPlain = zone.name == "UTC"
  }

  /// The window around a second. About 10 ns in UTC to the day, 200 ns in a zone.
  func window(at second: Int64) -> Range<Int64> {
    switch length {
    case .all: return .min ..< .max
    case .minute, .hour: return clockWindow(at: second)
    case .day where isPlain:
      let start = second - second.remainder(86_400)
      return start..<start + 86_400
    case .day: return days(from: zone.date(at: second).daysSince1970, 1)
    case .week:
      let day = zone.date(at: second).daysSince1970
      // Weeks begin on Monday; 1 January 1970 was a Thursday.
      return days(from: day - Int(Int64(day + 3).remainder(7)), 7)
    case .month:
      let date = zone.date(at: second)
      let first = CivilDate(year: date.year, month: date.month, day: 1)
      let isLast = date.month == 12
      let next = CivilDate(
        year: isLast ? date.year + 1 : date.year, month: isLast ? 1 : date.month + 1, day: 1)
      return zone.start(of: first)..<zone.start(of: next)
    }
  }

  private func days(from day: Int, _ count: Int) -> Range<Int64> {
    let first = CivilDate(daysSince1970: day)
    let next = CivilDate(daysSince1970: day + count)
    return zone.start(of: first)..<zone.start(of: next)
  }

  /// An hour ends where the clock is changed within it: 01:00 to 02:00 that comes twice is two windows.
  private func clockWindow(at second: Int64) -> Range<Int64> {
    let seconds = length.seconds
    if isPlain {
      let start = second - second.remainder(seconds)
      return start..<start + seconds
    }
    let at = zone.segment(at: second)
    let local = second + Int64(at.offset)
    let start = local - local.remainder(seconds) - Int64(at.offset)
    return max(start, at.start)..<min(start + seconds, at.end)
  }
}
