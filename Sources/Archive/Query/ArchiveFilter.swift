public import EventCodec
public import EventModel

/// Which events of an archive are wanted. Everything is optional; together means and.
public struct ArchiveFilter: Sendable {
  /// Names, as `$identify` for events that are no tracks: one of these has to match; none: all do.
  public var patterns: [EventPattern] = []
  /// Half open, nanoseconds since 1970, of the events' `timestamp`.
  public var from: Int64?
  public var to: Int64?
  /// Events about this person: by `userId`, `anonymousId` or an alias's `previousId`, as `PersonHash`
  /// knows people, so that these are just the events that forgetting the id erases.
  public var user: String?
  public var clauses: [WhereClause] = []

  public init() {}

  /// Whether only names and times are asked for, which the catalogue knows of each part.
  var asksNamesAndTimesOnly: Bool { user == nil && clauses.isEmpty }

  func holds(name: [UInt8]) -> Bool {
    patterns.isEmpty || patterns.contains { $0.matches(name) }
  }

  func holdsAll(_ times: ClosedRange<Int64>) -> Bool {
    (from.map { $0 <= times.lowerBound } ?? true) && (to.map { times.upperBound < $0 } ?? true)
  }

  func holdsSome(_ times: ClosedRange<Int64>) -> Bool {
    (from.map { $0 <= times.upperBound } ?? true) && (to.map { times.lowerBound < $0 } ?? true)
  }
}
