internal import Database
internal import Primitives

/// A bound of the period that a question is about.
public enum ReportTime: Sendable, Hashable {
  /// Seconds since 1970.
  case second(Int64)
  /// What the clocks and calendars of the report's zone show, in seconds as if they were UTC's. Where they
  /// never show it, or twice: the first moment at which they show that or more.
  case local(Int64)

  func second(in zone: CivilTime) -> Int64 {
    switch self {
    case .second(let second): second
    case .local(let second): zone.second(ofLocal: second)
    }
  }
}

/// A question about one report.
public struct ReportQuestion: Sendable, Hashable {
  /// Windows that end after `from` and begin before `to`.
  public var from: ReportTime?
  public var to: ReportTime?
  /// How many groups an answer lists; the total has all.
  public var groups: Int
  /// Lists only groups whose first value has this text in it, in either case. Totals stay those of all.
  public var search = ""
  /// False: the period as a whole alone.
  public var listsWindows = true

  public init(from: ReportTime? = nil, to: ReportTime? = nil, groups: Int = 100) {
    self.from = from
    self.to = to
    self.groups = groups
  }
}

/// Reads answers from the aggregator's file, also while it is written: each answer is of one commit.
struct ReportReading: ~Copyable {
  private let database: Database

  init(_ path: String) throws(DatabaseError) {
    database = try Database(path, migrations: AggregatorStore.migrations)
  }

  /// Nil while the report is not stored: the aggregator has not taken it up yet.
  func answer(
    _ definition: ReportDefinition, _ question: ReportQuestion
  ) throws(AggregatorError) -> ReportAnswer? {
    do throws(DatabaseError) {
      try database.execute("BEGIN")
      defer { endReading() }
      guard let stored = try stored(definition) else { return nil }
      var table = SourceTable()
      let plan = ReportPlan(definition, &table)
      let watermark = try watermark()
      var builder = AnswerBuilder(
        plan, question, watermark: watermark,
        people: plan.joinsPeople ? try AggregatorStore.people(database) : nil)
      try read(stored.id, plan, question, watermark) { builder.add($0) }
      if builder.needsSecondReading, question.listsWindows {
        builder.beginSecondReading()
        try read(stored.id, plan, question, watermark) { builder.show($0) }
      }
      return builder.answer(question, stored.counters)
    } catch { throw .database(error) }
  }

  private func endReading() {
    // Nothing was written, so ending it cannot fail for any reason that matters.
    do throws(DatabaseError) { try database.execute("COMMIT") } catch {}
  }

  private func read(
    _ id: Int64, _ plan: ReportPlan, _ question: ReportQuestion, _ watermark: Int64,
    _ body: (WindowState) -> Void
  ) throws(DatabaseError) {
    let expired =
      plan.keep < .max ? ReportPlan.seconds(watermark.addingSaturated(-plan.keep)) : Int64.min
    let rows = try database.prepare(
      "SELECT start, end, state FROM window WHERE report = ? AND end > ? AND start < ? "
        + "ORDER BY start")
    try rows.bind(1, id)
    let zone = plan.rule.zone
    try rows.bind(2, max(question.from?.second(in: zone) ?? .min, expired))
    try rows.bind(3, question.to?.second(in: zone) ?? .max)
    while try rows.step() {
      let range = try AggregatorStore.range(rows, database)
      let window: WindowState
      do throws(StateError) {
        window = try WindowState(range, plan.shape, from: rows.bytes(2))
      } catch {
        throw DatabaseError(kind: .corrupt, path: database.path, text: "\(error)")
      }
      // A report of users counts events of windows in which nobody took a step: nothing to be shown.
      if !window.isEmpty { body(window) }
    }
  }

  private func stored(
    _ definition: ReportDefinition
  ) throws(DatabaseError) -> (id: Int64, counters: ReportCounters)? {
    let rows = try database.prepare(
      "SELECT id, matched, late, without_user, unreadable, trimmed, expired FROM report "
        + "WHERE name = ? AND signature = ? AND filling = 0")
    try rows.bind(1, definition.name)
    try rows.bind(2, definition.signature)
    guard try rows.step() else { return nil }
    let counters = ReportCounters(
      matched: try rows.count(1), expired: try rows.count(6), late: try rows.count(2),
      withoutUser: try rows.count(3), unreadable: try rows.count(4), trimmed: try rows.count(5))
    return (rows.integer(0), counters)
  }

  private func watermark() throws(DatabaseError) -> Int64 {
    let clock = try database.prepare("SELECT watermark FROM clock")
    return try clock.step() ? clock.integer(0) : .min
  }
}

extension ReportPlan {
  var joinsPeople: Bool {
    guard case .measures(let measures, _) = definition.content else { return false }
    return measures.contains(.people)
  }
}
