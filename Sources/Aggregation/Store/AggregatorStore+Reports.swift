internal import Database

// Which reports there are, and whose state they are.
extension AggregatorStore {
  private struct Known {
    var id: Int64
    var signature: String
    var counters: ReportCounters
    var isFilling: Bool
  }

  /// Finds each definition's stored state, makes what is new, and deletes what is gone, counts something
  /// else now, or was not filled to its end. Returns also the names of those that begin anew.
  ///
  /// - Parameter marksFilling: new reports that fill themselves are marked until `commitFill` is done.
  func match(
    _ definitions: [ReportDefinition], marksFilling: Bool = false
  ) throws(AggregatorError) -> (reports: [StoredReport], new: [String]) {
    do throws(DatabaseError) {
      return try database.transaction { () throws(DatabaseError) in
        var gone = try known()
        var reports: [StoredReport] = []
        var new: [ReportDefinition] = []
        for definition in definitions {
          guard let found = gone[definition.name], found.signature == definition.signature,
            !found.isFilling
          else {
            new.append(definition)
            continue
          }
          gone[definition.name] = nil
          reports.append(
            StoredReport(id: found.id, definition: definition, counters: found.counters))
        }
        for report in gone.values { try delete(report.id) }
        for definition in new {
          let id = try insert(definition, isFilling: marksFilling && definition.fills)
          reports.append(StoredReport(id: id, definition: definition))
        }
        return (Self.inOrder(reports, of: definitions), new.map(\.name))
      }
    } catch { throw .database(error) }
  }

  private static func inOrder(
    _ reports: [StoredReport], of definitions: [ReportDefinition]
  ) -> [StoredReport] {
    let byName = Dictionary(uniqueKeysWithValues: reports.map { ($0.definition.name, $0) })
    return definitions.compactMap { byName[$0.name] }
  }

  private func known() throws(DatabaseError) -> [String: Known] {
    var known: [String: Known] = [:]
    let rows = try database.prepare(
      "SELECT name, id, signature, filling, matched, late, without_user, unreadable, trimmed, "
        + "expired FROM report")
    while try rows.step() {
      let counters = ReportCounters(
        matched: try rows.count(4), expired: try rows.count(9), late: try rows.count(5),
        withoutUser: try rows.count(6), unreadable: try rows.count(7),
        trimmed: try rows.count(8))
      known[rows.text(0)] = Known(
        id: rows.integer(1), signature: rows.text(2), counters: counters,
        isFilling: rows.integer(3) != 0)
    }
    return known
  }

  private func insert(
    _ definition: ReportDefinition, isFilling: Bool
  ) throws(DatabaseError) -> Int64 {
    let put = try database.prepare(
      "INSERT INTO report (name, signature, matched, late, without_user, unreadable, trimmed, "
        + "filling) VALUES (?, ?, 0, 0, 0, 0, 0, ?) RETURNING id")
    try put.bind(1, definition.name)
    try put.bind(2, definition.signature)
    try put.bind(3, Int64(isFilling ? 1 : 0))
    _ = try put.step()
    let id = put.integer(0)
    try put.run()
    return id
  }

  private func delete(_ report: Int64) throws(DatabaseError) {
    for table in ["window", "track"] {
      let delete = try database.prepare("DELETE FROM \(table) WHERE report = ?")
      try delete.bind(1, report)
      try delete.run()
    }
    let delete = try database.prepare("DELETE FROM report WHERE id = ?")
    try delete.bind(1, report)
    try delete.run()
  }
}
