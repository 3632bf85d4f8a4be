/// What a report counts beside its windows.
struct ReportCounters: Sendable, Equatable {
  /// Events in the windows that the report keeps.
  var events: UInt64 { matched - min(matched, expired) }
  /// Events that took effect.
  var matched: UInt64 = 0
  /// Those of them whose windows were kept long enough and deleted since. Counted by the store, with the
  /// deletion.
  var expired: UInt64 = 0
  /// Events that came after their window had closed.
  var late: UInt64 = 0
  /// Of a report of users: events that name nobody.
  var withoutUser: UInt64 = 0
  /// Events with a value that cannot be read.
  var unreadable: UInt64 = 0
  /// What was given up of users with more than is kept of one.
  var trimmed: UInt64 = 0
  var isChanged = false
}
