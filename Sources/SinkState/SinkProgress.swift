public import BusProtocol

/// How far a sink is: the place it reads next, and what became of everything before.
///
/// A sink counts events in `ledger` as it handles them, then calls `advance`; in between the ledger is
/// ahead of the cursor. It stores both in one transaction with its data (`SinkTables`).
public struct SinkProgress: Hashable, Sendable {
  /// The next event wanted.
  public private(set) var cursor: Position
  /// The operator's seek that the cursor follows; goes to `SubscriberConfiguration.seekGeneration`.
  public var seekGeneration: UInt64
  public var ledger: SinkLedger

  /// A sink that begins at `start`.
  public init(start: Position, seekGeneration: UInt64 = 0) {
    cursor = start
    self.seekGeneration = seekGeneration
    ledger = SinkLedger(start: start)
  }

  public init(cursor: Position, seekGeneration: UInt64, ledger: SinkLedger) {
    self.cursor = cursor
    self.seekGeneration = seekGeneration
    self.ledger = ledger
  }

  /// Why a cursor jumps over offsets.
  public enum Jump: Sendable {
    /// The events are gone: `EventBatch.gap`.
    case gap
    /// An operator moved the cursor: `ConnectionNotice.sought`.
    case seek
  }

  /// Moves the cursor to a place that the events do not lead to. Everything before the old cursor has
  /// been counted.
  public mutating func jump(to place: Position, _ reason: Jump) {
    if place.offset < cursor.offset {
      ledger.rewound &+= cursor.offset - place.offset
    } else {
      switch reason {
      case .gap: ledger.missing &+= place.offset - cursor.offset
      case .seek: ledger.skipped &+= place.offset - cursor.offset
      }
    }
    cursor = place
  }

  /// Moves the cursor behind what was looked at (`EventBatch.end`): what lies before it and was not
  /// counted did not match.
  public mutating func advance(to end: Position) {
    if end.offset < cursor.offset { ledger.rewound &+= cursor.offset - end.offset }
    cursor = end
    let passed = ledger.passed(to: end)
    precondition(
      passed >= ledger.accounted, "\(ledger.accounted) events counted, \(passed) passed")
    ledger.notMatched &+= passed - ledger.accounted
  }
}
