internal import Database
internal import Primitives

/// What a spool cannot read, and what an operator should read about it.
struct SpoolDamage: Sendable {
  struct Row: Sendable {
    var id: Int64
    var events: Int
    var why: String
  }

  /// Of the rows that were set aside, as far as their count can be believed.
  var events = 0
  var report: OperatorReport

  init(_ rows: [Row], _ path: String) {
    events = rows.reduce(0) { $0 + $1.events }
    report = OperatorReport(
      .warning, "bus.spool",
      "\(events.counted("event")) in \(rows.count.counted("row")) of the spool \(path) cannot be read and "
        + "\(rows.count == 1 ? "was" : "were") set aside, into its table aside: \(rows.first?.why ?? "")"
    )
  }

  /// - Parameter events: all that it holds.
  init(_ error: DatabaseError, _ events: Int) {
    let next = error.kind == .corrupt ? "the next start renames it" : "it is tried again"
    report = OperatorReport(
      .warning, "bus.spool",
      "the spool, with \(events.counted("event")), cannot be read: \(error.description); \(next)")
  }
}
