internal import Database
internal import Primitives
internal import SinkState

// One commit: everything that changed since the last, and the cursor.
extension AggregatorStore {
  func commit(_ core: AggregatorCore) throws(AggregatorError) {
    var expired: [UInt64] = []
    do throws(DatabaseError) {
      try database.transaction { () throws(DatabaseError) in
        try SinkTables.store(core.progress, in: database)
        try DoublesTables.store(core.doubles, in: database)
        try ForgottenTables.store(core.forgotten, in: database)
        try storeClock(core)
        try storeJoins(core.people, erasing: core.erasures)
        if !core.erasures.isEmpty { try erase(core) }
        for report in core.reports { expired.append(try store(report, core.watermark)) }
      }
    } catch { throw .database(error) }
    for (report, count) in zip(core.reports, expired) { report.counters.expired += count }
  }

  /// Stores what new reports counted of the past, beside the cursor that all reports share.
  func commitFill(_ core: AggregatorCore, isDone: Bool) throws(AggregatorError) {
    var expired: [UInt64] = []
    do throws(DatabaseError) {
      try database.transaction { () throws(DatabaseError) in
        if !core.erasures.isEmpty { try erase(core) }
        let done = try database.prepare("UPDATE report SET filling = 0 WHERE id = ?")
        for report in core.reports {
          expired.append(try store(report, core.watermark))
          guard isDone else { continue }
          try done.bind(1, report.id)
          try done.run()
        }
      }
    } catch { throw .database(error) }
    for (report, count) in zip(core.reports, expired) { report.counters.expired += count }
  }

  private func storeClock(_ core: AggregatorCore) throws(DatabaseError) {
    let put = try database.prepare("INSERT OR REPLACE INTO clock VALUES (1, ?, ?)")
    try put.bind(1, core.highest)
    try put.bind(2, core.watermark)
    try put.run()
  }

  private func storeJoins(
    _ people: PeopleJoin, erasing persons: [UInt64]
  ) throws(DatabaseError) {
    let delete = try database.prepare("DELETE FROM joined WHERE id = ? OR person = ?")
    for person in persons {
      try delete.bind(1, person)
      try delete.bind(2, person)
      try delete.run()
    }
    guard !people.new.isEmpty else { return }
    let put = try database.prepare("INSERT OR REPLACE INTO joined VALUES (?, ?)")
    for join in people.new {
      try put.bind(1, join.id)
      try put.bind(2, join.person)
      try put.run()
    }
  }

  /// Returns how many events were in windows that go now.
  private func store(_ report: ReportRun, _ watermark: Int64) throws(DatabaseError) -> UInt64 {
    if report.counters.isChanged || !report.changedWindows.isEmpty { try storeChanges(of: report) }
    return try expire(report, watermark)
  }

  private func storeChanges(of report: ReportRun) throws(DatabaseError) {
    let windows = try database.prepare("INSERT OR REPLACE INTO window VALUES (?, ?, ?, ?)")
    for window in report.changedWindows {
      try windows.bind(1, report.id)
      try windows.bind(2, window.range.lowerBound)
      try windows.bind(3, window.range.upperBound)
      try windows.bind(4, window.encoded())
      try windows.run()
    }
    let tracks = try database.prepare("INSERT OR REPLACE INTO track VALUES (?, ?, ?)")
    for track in report.changedTracks {
      try tracks.bind(1, report.id)
      try tracks.bind(2, track.user)
      try tracks.bind(3, track.bytes)
      try tracks.run()
    }
    let counters = try database.prepare(
      "UPDATE report SET matched = ?, late = ?, without_user = ?, unreadable = ?, trimmed = ? "
        + "WHERE id = ?")
    let values = report.counters
    for (index, value) in [
      values.matched, values.late, values.withoutUser, values.unreadable, values.trimmed,
    ].enumerated() { try counters.bind(Int32(index + 1), value) }
    try counters.bind(6, report.id)
    try counters.run()
  }

  /// Deletes the windows that are kept no longer, of every report at every commit, so that what is gone
  /// depends on the watermark alone. Returns how many events they had counted.
  private func expire(
    _ report: ReportRun, _ watermark: Int64
  ) throws(DatabaseError) -> UInt64 {
    guard report.plan.keep < .max else { return 0 }
    let last = ReportPlan.seconds(watermark.addingSaturated(-report.plan.keep))
    // The start, too, as it is what the table is in order of.
    let which = "WHERE report = ? AND start < ? AND end <= ?"
    func bind(_ statement: borrowing Statement) throws(DatabaseError) {
      try statement.bind(1, report.id)
      try statement.bind(2, last)
      try statement.bind(3, last)
    }
    let rows = try database.prepare("SELECT substr(state, 1, 16) FROM window \(which)")
    try bind(rows)
    var events: UInt64 = 0
    var hasRows = false
    while try rows.step() {
      hasRows = true
      do throws(StateError) {
        events += try WindowState.events(in: rows.bytes(0))
      } catch {
        throw DatabaseError(kind: .corrupt, path: database.path, text: "\(error)")
      }
    }
    guard hasRows else { return 0 }
    let delete = try database.prepare("DELETE FROM window \(which)")
    try bind(delete)
    try delete.run()
    let count = try database.prepare("UPDATE report SET expired = expired + ? WHERE id = ?")
    try count.bind(1, events)
    try count.bind(2, report.id)
    try count.run()
    return events
  }

  /// Takes persons out of what is stored. Windows in memory have lost them already.
  private func erase(_ core: AggregatorCore) throws(DatabaseError) {
    var persons = HashTable64()
    for person in core.erasures { _ = persons.insert(person) }
    let tracks = try database.prepare("DELETE FROM track WHERE report = ? AND user = ?")
    for report in core.reports where report.plan.needsUser {
      for person in core.erasures {
        try tracks.bind(1, report.id)
        try tracks.bind(2, person)
        try tracks.run()
      }
      if !report.plan.userSets.isEmpty { try erase(persons, from: report) }
    }
  }

  private func erase(
    _ persons: HashTable64, from report: ReportRun
  ) throws(DatabaseError) {
    let starts = try database.prepare("SELECT start, end FROM window WHERE report = ?")
    try starts.bind(1, report.id)
    var ranges: [Range<Int64>] = []
    while try starts.step() { ranges.append(try Self.range(starts, database)) }
    let read = try database.prepare("SELECT state FROM window WHERE report = ? AND start = ?")
    let put = try database.prepare("UPDATE window SET state = ? WHERE report = ? AND start = ?")
    for range in ranges where !report.isLoaded(range.lowerBound) {
      try read.bind(1, report.id)
      try read.bind(2, range.lowerBound)
      let bytes = try read.step() ? read.bytes(0) : []
      try read.reset()
      var window: WindowState
      do throws(StateError) {
        window = try WindowState(range, report.plan.shape, from: bytes)
      } catch {
        throw DatabaseError(kind: .corrupt, path: database.path, text: "\(error)")
      }
      window.erase(persons, report.plan.userSets)
      guard window.isChanged else { continue }
      try put.bind(1, window.encoded())
      try put.bind(2, report.id)
      try put.bind(3, range.lowerBound)
      try put.run()
    }
  }
}
