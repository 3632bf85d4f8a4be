public import BusProtocol
public import Primitives

/// An event that a destination refused, kept whole with the reason, the request and the answer.
public struct DeadLetter: Hashable, Sendable {
  public enum State: Int64, Hashable, Sendable {
    /// Waits for a person.
    case kept = 0
    /// Is to be sent again by the publisher.
    case queued = 1

    public var word: String { self == .kept ? "kept" : "queued" }
  }

  /// Dense as they came; never used again.
  public var id: Int64
  public var state: State
  /// Where the bus had it.
  public var position: Position
  /// When the bus took it (journal time).
  public var received: Timestamp
  /// When it became a dead letter, the last time.
  public var died: Timestamp
  public var refusal: Refusal
  /// Where it was sent: `POST https://api.segment.io/v1/batch`.
  public var route: String
  public var isEdited: Bool
  /// The envelope, a MessagePack map.
  public var payload: [UInt8]
}
