public import BusProtocol
internal import Database

/// Which parts a reader wants. Everything is optional; together means and.
public struct PartFilter: Hashable, Sendable {
  /// Half open, nanoseconds since 1970, of the events' `timestamp`.
  public var timestampFrom: Int64?
  public var timestampTo: Int64?
  /// Parts that cover this position or one after.
  public var from: Position?
  /// Parts that hold events of at least one of these names.
  public var names: [[UInt8]]?

  public init(
    timestampFrom: Int64? = nil, timestampTo: Int64? = nil, from: Position? = nil,
    names: [[UInt8]]? = nil
  ) {
    self.timestampFrom = timestampFrom
    self.timestampTo = timestampTo
    self.from = from
    self.names = names
  }

  fileprivate var conditions: [String] {
    var conditions: [String] = []
    if timestampFrom != nil { conditions.append("max_timestamp >= ?1") }
    if timestampTo != nil { conditions.append("min_timestamp < ?2") }
    if from != nil { conditions.append("(epoch > ?3 OR (epoch = ?3 AND covered_last >= ?4))") }
    return conditions
  }

  fileprivate func bind(_ statement: borrowing Statement) throws(DatabaseError) {
    if let timestampFrom { try statement.bind(1, timestampFrom) }
    if let timestampTo { try statement.bind(2, timestampTo) }
    if let from {
      try statement.bind(3, Int64(from.epoch))
      try statement.bind(4, from.offset)
    }
  }
}

extension Catalogue {
  private static let columns = """
    id, path, epoch, first, last, count, bytes, raw_bytes, sha256, min_timestamp, max_timestamp, \
    min_time, max_time, created, covered_first, covered_last
    """

  /// The parts that can hold what is wanted, in the order of their positions. One query: what comes
  /// later, or takes the place of a part, is not in it. When a part's file has vanished meanwhile, ask
  /// again with `from` behind the last event given, and skip what lies before.
  public func parts(
    _ filter: PartFilter = PartFilter(), limit: Int = .max
  ) throws(ArchiveError) -> [Part] {
    do throws(DatabaseError) {
      let named: Set<Int64>? = if let names = filter.names { try ids(named: names) } else { nil }
      let conditions = filter.conditions
      let query = try database.prepare(
        "SELECT \(Self.columns) FROM parts "
          + (conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND ")) ")
          + "ORDER BY epoch, first")
      try filter.bind(query)
      var parts: [Part] = []
      while parts.count < limit, try query.step() {
        if let named, !named.contains(query.integer(0)) { continue }
        parts.append(try part(query))
      }
      return parts
    } catch {
      throw ArchiveError(error)
    }
  }

  /// The events of each name in a part, by the names' bytes.
  public func nameCounts(of part: Part) throws(ArchiveError) -> [NameCount] {
    do throws(DatabaseError) {
      let query = try database.prepare(
        "SELECT name, count FROM part_names WHERE part = ? ORDER BY name")
      try query.bind(1, part.id)
      return try counts(query)
    } catch {
      throw ArchiveError(error)
    }
  }

  /// The events of each name in the whole archive, by the names' bytes.
  public func nameCounts() throws(ArchiveError) -> [NameCount] {
    do throws(DatabaseError) {
      return try counts(
        try database.prepare(
          "SELECT name, SUM(count) FROM part_names GROUP BY name ORDER BY name"))
    } catch {
      throw ArchiveError(error)
    }
  }

  /// Whom a part may hold; none for a part that is no longer there.
  public func people(of part: Part) throws(ArchiveError) -> PeopleIndex {
    do throws(DatabaseError) {
      let query = try database.prepare("SELECT hashes FROM part_people WHERE part = ?")
      try query.bind(1, part.id)
      return try query.step() ? PeopleIndex(decoding: query.bytes(0)) : PeopleIndex()
    } catch {
      throw ArchiveError(error)
    }
  }

  private func counts(
    _ query: borrowing Statement
  ) throws(DatabaseError) -> [NameCount] {
    var counts: [NameCount] = []
    while try query.step() {
      counts.append(NameCount(name: query.bytes(0), count: try figure(query, 1)))
    }
    return counts
  }

  private func ids(named names: [[UInt8]]) throws(DatabaseError) -> Set<Int64> {
    let query = try database.prepare("SELECT part FROM part_names WHERE name = ?")
    var parts: Set<Int64> = []
    for name in names {
      try query.bind(1, name)
      while try query.step() { parts.insert(query.integer(0)) }
      try query.reset()
    }
    return parts
  }

  /// What counts or bytes of one part, or of all, cannot be: so many that sums of them would overflow.
  private static let unbelievable: UInt64 = 1 << 40

  /// A count or a size; in a damaged file anything can stand there.
  func figure(
    _ row: borrowing Statement, _ column: Int32
  ) throws(DatabaseError) -> UInt64 {
    let value = row.unsigned(column)
    guard value < Self.unbelievable else {
      throw DatabaseError(
        kind: .corrupt, path: database.path, text: "\(row.integer(column)) is no count and no size")
    }
    return value
  }

  private func part(_ row: borrowing Statement) throws(DatabaseError) -> Part {
    guard ArchiveNames.isOurs(path: row.text(1)) else {
      throw DatabaseError(
        kind: .corrupt, path: database.path,
        text: "part \(row.integer(0)) is in a file that is not named as a part")
    }
    guard row.integer(9) <= row.integer(10), row.integer(11) <= row.integer(12),
      row.unsigned(3) <= row.unsigned(4), row.unsigned(14) <= row.unsigned(15)
    else {
      throw DatabaseError(
        kind: .corrupt, path: database.path, text: "part \(row.integer(0)) ends before it begins")
    }
    var part = Part(
      path: row.text(1), epoch: UInt32(clamping: row.integer(2)), first: try row.count(3),
      last: try row.count(4), count: try figure(row, 5), bytes: try figure(row, 6),
      rawBytes: try figure(row, 7), sha256: row.bytes(8),
      timestamps: row.integer(9)...row.integer(10), times: row.integer(11)...row.integer(12),
      created: row.integer(13), covered: try row.count(14)...row.count(15))
    part.id = row.integer(0)
    return part
  }
}
