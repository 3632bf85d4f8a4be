public import Primitives

/// What a pretended provider did with every event that it was sent.
public struct FakeLedger: Sendable {
  /// One event of one request.
  public struct Receipt: Sendable {
    public var id: String
    public var user: String
    /// As it was written.
    public var event: JSONPiece
    public var request: Int
    /// By the provider's own rule.
    public var time: Timestamp?
  }

  public struct Drop: Hashable, Sendable {
    public var id: String
    public var reason: String
  }

  /// Kept, in order of arrival.
  public internal(set) var stored: [Receipt] = []
  /// Recognised as sent before.
  public internal(set) var doubles: [Receipt] = []
  /// Lost although the answer was a success.
  public internal(set) var silentDrops: [Drop] = []
  /// Refused by name or by status.
  public internal(set) var refused: [Drop] = []
  /// Requests by status, those without an answer too.
  public internal(set) var requests: [StubRequest] = []
  /// Requests that were cut off in the middle of their body.
  public internal(set) var interrupted = 0
  private var kept: Set<String> = []

  public var ids: [String] { stored.map(\.id) }

  /// The ids of each user in their order.
  public var orderByUser: [String: [String]] {
    stored.reduce(into: [:]) { $0[$1.user, default: []].append($1.id) }
  }

  /// Ids that were sent again with another content than before.
  public var changed: [String] {
    let first = Dictionary(stored.map { ($0.id, $0.event.text) }) { first, _ in first }
    return doubles.filter { first[$0.id] != $0.event.text }.map(\.id)
  }

  mutating func keep(_ receipt: Receipt, asOne key: String) {
    if kept.insert(key).inserted {
      stored.append(receipt)
    } else {
      doubles.append(receipt)
    }
  }
}
