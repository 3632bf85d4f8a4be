internal import BusProtocol

/// Which parts a query reads, and what it knows without reading: a function of the catalogue's answer.
struct QueryPlan: Sendable {
  /// One part to read, or the piece of it that is still wanted.
  struct Unit: Hashable, Sendable {
    var part: Part
    /// Only these positions; nil: all of the part.
    var positions: ClosedRange<Position>?
    /// Whether some of its events can be outside the wanted times, or of other names.
    var testsTime: Bool
    var testsNames: Bool

    /// What it covers, with every position that the part could have.
    var range: ClosedRange<Position> {
      positions ?? part.firstPosition...part.lastPosition
    }
  }

  /// In the order of positions.
  private(set) var units: [Unit] = []
  /// Events by name that the catalogue answers for, of the parts that need no reading.
  private(set) var known: [NameCount] = []

  /// - Parameter answers: whether the catalogue's counts by name are an answer where all of a part's
  ///   events are wanted.
  init(_ snapshot: CatalogueSnapshot, _ filter: ArchiveFilter, answers: Bool) {
    var counts: [[UInt8]: UInt64] = [:]
    for part in snapshot.parts where filter.holdsSome(part.timestamps) {
      guard let positions = filter.wanted(of: part) else { continue }
      let isWhole = positions == part.firstPosition...part.lastPosition
      let names = snapshot.names[part.id] ?? []
      let wanted = names.filter { filter.holds(name: $0.name) }
      if !filter.patterns.isEmpty, wanted.isEmpty { continue }
      let testsTime = !filter.holdsAll(part.timestamps)
      if answers, !testsTime, isWhole {
        for name in wanted { counts[name.name, default: 0] += name.count }
      } else {
        units.append(
          Unit(
            part: part, positions: isWhole ? nil : positions, testsTime: testsTime,
            testsNames: wanted.count < names.count))
      }
    }
    known = counts.map { NameCount(name: $0.key, count: $0.value) }
  }

  /// What reads the rest of `open` now that files have been replaced: each part of the new answer, where
  /// it overlaps one of these ranges. Both are in the order of positions, and neither overlaps itself.
  static func units(
    for open: [ClosedRange<Position>], _ snapshot: CatalogueSnapshot, _ filter: ArchiveFilter
  ) -> [Unit] {
    let plan = QueryPlan(snapshot, filter, answers: false)
    var units: [Unit] = []
    var first = 0
    for unit in plan.units {
      while first < open.count, open[first].upperBound < unit.range.lowerBound { first += 1 }
      var index = first
      while index < open.count, open[index].lowerBound <= unit.range.upperBound {
        var piece = unit
        if !open[index].covers(unit.range) { piece.positions = open[index].clamped(to: unit.range) }
        units.append(piece)
        index += 1
      }
    }
    return units
  }
}

extension ClosedRange<Position> {
  fileprivate func covers(_ other: Self) -> Bool {
    lowerBound <= other.lowerBound && other.upperBound <= upperBound
  }
}
