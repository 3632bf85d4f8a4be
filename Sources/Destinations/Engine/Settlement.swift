public import SinkState

/// What became of a run of events from the cursor on: stored in one transaction with the cursor.
public struct Settlement: Sendable {
  /// Cursor and ledger behind these events; set when it is taken.
  public var progress: SinkProgress?
  /// New dead letters, in journal order.
  public var letters: [(event: DeliveryEvent, refusal: Refusal)] = []
  /// Dead letters that were sent again, and what came of it.
  public var redriven: [(letter: Int64, outcome: DeliveryOutcome)] = []
  /// People to be forgotten; stored ahead of the cursor.
  public var forgets: [ForgetMark] = []
  /// Entries in it.
  public var count = 0

  public var isEmpty: Bool { count == 0 }
}
