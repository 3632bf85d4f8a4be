public import BusProtocol
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
  /// Events of these positions in the journal.
  public var positions: Range<Position>?

  public init() {}

  /// Whether only names and times are asked for, which the catalogue knows of each part.
  var asksNamesAndTimesOnly: Bool { user == nil && clauses.isEmpty }

  func holds(name: [UInt8]) -> Bool {
    patterns.isEmpty || patterns.contains { $0.matches(name) }
  }

  func holdsAll(_ times: ClosedRange<Int64>) -> Bool {
    (from.map { $0 <= times.lowerBound } ?? true) && (to.map { times.upperBound < $0 } ?? true)
  }

  /// The positions of a part that are wanted; nil when none is.
  func wanted(of part: Part) -> ClosedRange<Position>? {
    let whole = part.firstPosition...part.lastPosition
    guard let positions else { return whole }
    guard positions.overlaps(whole) else { return nil }
    // Within the part, which is of one epoch, and behind its first event: there is an offset before.
    let last =
      positions.upperBound > whole.upperBound
      ? whole.upperBound
      : Position(
        epoch: positions.upperBound.epoch, offset: positions.upperBound.offset - 1)
    return max(positions.lowerBound, whole.lowerBound)...last
  }

  func holdsSome(_ times: ClosedRange<Int64>) -> Bool {
    (from.map { $0 <= times.upperBound } ?? true) && (to.map { times.lowerBound < $0 } ?? true)
  }
}
