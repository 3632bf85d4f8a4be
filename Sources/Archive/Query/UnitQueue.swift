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
  /// Whether one thread takes all units, in order.
  private let isSingle: Bool
  let progress: ByteProgress

  /// - Parameter isSingle: whether one thread takes all units; then the catalogue may not have answered
  ///   for parts between them.
  init(
    _ plan: QueryPlan, _ filter: ArchiveFilter, isSingle: Bool,
    _ onProgress: @escaping @Sendable (_ bytes: UInt64, _ total: UInt64) -> Void = { _, _ in },
    refresh: @escaping @Sendable () throws(ArchiveError) -> CatalogueSnapshot
  ) {
    state = Mutex(State(units: plan.units))
    self.isSingle = isSingle
    precondition(!isSingle || plan.known.isEmpty, "what the catalogue answered would be read too")
    progress = ByteProgress(of: plan.units.reduce(0) { $0 + $1.part.bytes }, onProgress)
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
      let open = ranges(unit, state.units[state.next...])
      state.units = QueryPlan.units(for: open, snapshot, filter)
      state.next = 0
      return true
    }
  }

  /// What is to be read again, and what is not handed out yet, in the order of positions.
  private func ranges(
    _ unit: QueryPlan.Unit, _ rest: ArraySlice<QueryPlan.Unit>
  ) -> [ClosedRange<Position>] {
    // In one piece, so that a part which took the place of many is opened once: what lies between two
    // units of one thread was read before it, or is not wanted.
    if isSingle, let last = rest.last { return [unit.range.lowerBound...last.range.upperBound] }
    // Between those of several threads lies what others are reading. A unit that comes back can be behind
    // one that came back before.
    return ([unit.range] + rest.map(\.range)).sorted { $0.lowerBound < $1.lowerBound }
  }
}
