internal import EventModel

/// What one report counts. Read from a file by `ReportFile`, or one of `ReportDefinition.defaults`.
public struct ReportDefinition: Sendable {
  /// What is counted for each window and group.
  enum Measure: Sendable, Hashable {
    case count
    /// Distinct users, or distinct values of a property; exact up to so many.
    case unique(FieldPath, exactly: Int)
    /// Distinct users after identify and alias have joined them.
    case people
    case number(FieldPath, NumberOutput)
    case quantiles(FieldPath, at: [Double])
    case top(FieldPath, limit: Int)
    case histogram(FieldPath, BucketRule)
  }

  enum NumberOutput: String, Sendable, Hashable, CaseIterable {
    case sum, min, max, mean
  }

  /// One part of the key that tells groups apart.
  struct Dimension: Sendable, Hashable {
    var path: FieldPath
    var buckets: BucketRule?
    var name: String
  }

  /// An event that counts as a step.
  struct Step: Sendable, Hashable {
    var event: String
    var isExact = false
    var conditions: [String] = []
  }

  enum Content: Sendable, Hashable {
    case measures([Measure], by: [Dimension])
    /// Users who took the steps in this order, the last at most `within` seconds after the first. Two
    /// steps at the same moment are in order, whichever came first.
    case funnel([Step], within: Int64)
    /// Of the users who did `first` in a window, how many did `back` in each of the windows after it.
    case retention(first: Step, back: Step, periods: Int)
    /// A user's events that are no more than `gap` seconds apart.
    case sessions(gap: Int64)

    var kind: String {
      switch self {
      case .measures: "measures"
      case .funnel: "funnel"
      case .retention: "retention"
      case .sessions: "sessions"
      }
    }
  }

  public internal(set) var name: String
  var title = ""
  /// Which events, by pattern; any of them. Empty: all.
  var events: [String] = []
  var exactEvents: [String] = []
  /// All must hold.
  var conditions: [String] = []
  var content: Content
  var window = WindowRule.Length.day
  var zone = "UTC"
  /// Seconds after a window's end by which its events may come late and still correct it; nil: as long as
  /// the window is kept.
  var lateness: Int64?
  /// Seconds after its end for which a window is kept.
  var keep: Int64
  /// How many groups a window keeps at least when they are too many.
  var limit = 1000
  /// Read the journal from its beginning when the report is new or changed.
  var fills = false

  /// How long windows are kept unless the report says otherwise: 48 hours of minutes, 400 days of hours,
  /// 11 years of days, weeks and months.
  static func usualKeep(_ window: WindowRule.Length) -> Int64 {
    switch window {
    case .minute: 48 * 3600
    case .hour: 400 * 86_400
    case .day, .week, .month: 4018 * 86_400
    case .all: .max
    }
  }

  /// Equal for reports that count the same: a stored one of another text begins anew.
  var signature: String {
    "1|\(events)|\(exactEvents)|\(conditions)|\(content)|\(window)|\(zone)|"
      + "\(lateness ?? -1)|\(keep)|\(limit)"
  }
}

extension ReportDefinition {
  /// What is counted without a file: events by name for each minute, hour and day, users by name for each
  /// hour and day.
  public static let defaults: [ReportDefinition] = [
    counts("events-by-minute", "Events by name for each minute", .minute),
    counts("events-by-hour", "Events by name for each hour", .hour),
    counts("events-by-day", "Events by name for each day", .day),
    users("users-by-hour", "Unique users by event for each hour", .hour),
    users("users-by-day", "Unique users by event for each day", .day),
  ]

  private static let byEvent = Dimension(path: .event, buckets: nil, name: "event")

  private static func counts(
    _ name: String, _ title: String, _ window: WindowRule.Length
  ) -> ReportDefinition {
    ReportDefinition(
      name: name, title: title, content: .measures([.count], by: [byEvent]), window: window,
      keep: usualKeep(window), limit: 10_000)
  }

  private static func users(
    _ name: String, _ title: String, _ window: WindowRule.Length
  ) -> ReportDefinition {
    let unique = Measure.unique(.user, exactly: DistinctSet.usualExact)
    return ReportDefinition(
      name: name, title: title, content: .measures([unique], by: [byEvent]), window: window,
      keep: usualKeep(window), limit: 10_000)
  }
}
