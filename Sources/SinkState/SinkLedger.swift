public import BusProtocol

/// What became of every event since a sink's start. Survives restarts, since it is stored with the
/// cursor, and always adds up: see `isBalanced`.
public struct SinkLedger: Hashable, Sendable {
  /// Where the sink began.
  public var start: Position
  /// Took effect.
  public var applied: UInt64 = 0
  /// Left out as doubles of events that took effect before.
  public var duplicate: UInt64 = 0
  /// Could not be decoded, or cannot be taken at all.
  public var refused: UInt64 = 0
  /// Kept as dead letters.
  public var dead: UInt64 = 0
  /// Left out because the person had asked to be forgotten.
  public var forgotten: UInt64 = 0
  /// Passed by: the filters leave them out, or they were addressed to others.
  public var notMatched: UInt64 = 0
  /// Gone before the sink read them (retention, damage): a loss.
  public var missing: UInt64 = 0
  /// Passed over by an operator's seek.
  public var skipped: UInt64 = 0
  /// Offsets counted above that came, or come, a second time: a seek back, or a new epoch that gave the
  /// offsets of lost events again.
  public var rewound: UInt64 = 0

  public init(start: Position) { self.start = start }

  /// All events that something became of.
  public var accounted: UInt64 {
    applied &+ duplicate &+ refused &+ dead &+ forgotten &+ notMatched &+ missing &+ skipped
  }

  /// Offsets passed from the start to `cursor`, those passed twice counted twice.
  public func passed(to cursor: Position) -> UInt64 {
    cursor.offset &+ rewound &- start.offset
  }

  /// Whether every event below `cursor` is accounted for.
  public func isBalanced(at cursor: Position) -> Bool { accounted == passed(to: cursor) }
}
