internal import BusProtocol
internal import Synchronization

/// The parts that a query has still to read, handed out in order to any number of threads.
///
/// When a file has vanished, its reader gives the unit back: the catalogue is asked what took its place,
/// for this unit and for all that are not handed out yet. What others are reading is not touched, since
/// an open file is read to its end. So each event is read once, whatever is replaced meanwhile.
final class UnitQueue: Sendable {
  private struct State {
    var units: [QueryPlan.Unit]
    var next = 0
  }

  private let state: Mutex<State>
  private let refresh: @Sendable () throws(ArchiveError) -> CatalogueSnapshot
  private let filter: ArchiveFilter
  /// Whether what lies between two units is not wanted anyway. Not so where the catalogue has answered
  /// for parts between them: merged with a unit's, their events would be counted again.
  private let isWhole: Bool

  init(
    _ plan: QueryPlan, _ filter: ArchiveFilter,
    refresh: @escaping @Sendable () throws(ArchiveError) -> CatalogueSnapshot
  ) {
    state = Mutex(State(units: plan.units))
    isWhole = plan.known.isEmpty
    self.filter = filter
    self.refresh = refresh
  }

  /// The next unit in the order of positions; nil when all are handed out.
  func next() -> QueryPlan.Unit? {
    state.withLock { state in
      guard state.next < state.units.count else { return nil }
      defer { state.next += 1 }
      return state.units[state.next]
    }
  }

  /// Puts what took the place of `unit`, whose file is not there, before all that is left.
  ///
  /// - Returns: false when the catalogue still has that very part: the file is lost.
  func replace(_ unit: QueryPlan.Unit) throws(ArchiveError) -> Bool {
    try state.withLock { state throws(ArchiveError) in
      let snapshot = try refresh()
      if snapshot.parts.contains(where: { $0.id == unit.part.id && $0.path == unit.part.path }) {
        return false
      }
      let open = ranges(unit, state.units[..<state.next].last, state.units[state.next...])
      state.units = QueryPlan.units(for: open, snapshot, filter)
      state.next = 0
      return true
    }
  }

  /// What is to be read again, and what is not handed out yet: in one piece where it may be, so that a
  /// part which took the place of many is opened once.
  private func ranges(
    _ unit: QueryPlan.Unit, _ newest: QueryPlan.Unit?, _ rest: ArraySlice<QueryPlan.Unit>
  ) -> [ClosedRange<Position>] {
    guard isWhole, let first = rest.first, let last = rest.last else {
      return [unit.range] + rest.map(\.range)
    }
    let end = last.range.upperBound
    // Nobody reads anything between the two.
    if newest == unit { return [unit.range.lowerBound...end] }
    return [unit.range, first.range.lowerBound...end]
  }
}
