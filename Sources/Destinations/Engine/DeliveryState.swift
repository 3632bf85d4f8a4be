public import Primitives

/// How a destination is, in one word and a reason.
public enum DeliveryState: Hashable, Sendable {
  /// Waiting for the answer to the request before the first event.
  case opening
  /// Events get through, or there are none.
  case delivering
  /// Requests fail; the next try is at the monotonic time `until`.
  case backingOff(String, until: Int64)
  /// It wants to be left alone until then.
  case paused(String, until: Int64)
  /// A person has to change something; a request finds out at `until` whether that was done.
  case configurationError(String, until: Int64)
  /// What was settled cannot be stored, so nothing is sent.
  case storeError(String)

  /// As `/status`, `/metrics` and `eventbus status` show it.
  public var word: String {
    switch self {
    case .opening: "opening"
    case .delivering: "delivering"
    case .backingOff: "backing-off"
    case .paused: "paused"
    case .configurationError: "configuration-error"
    case .storeError: "store-error"
    }
  }

  public static let words = [
    "opening", "delivering", "backing-off", "paused", "configuration-error", "store-error",
  ]

  public var reason: String? {
    switch self {
    case .opening, .delivering: nil
    case .backingOff(let reason, _), .paused(let reason, _), .configurationError(let reason, _),
      .storeError(let reason):
      reason
    }
  }

  public var until: Int64? {
    switch self {
    case .opening, .delivering, .storeError: nil
    case .backingOff(_, let until), .paused(_, let until), .configurationError(_, let until): until
    }
  }
}

extension DeliveryCore {
  /// Lanes that back off by themselves make it the state only when none of the others has work.
  public func state(at now: Int64) -> DeliveryState {
    switch gate.state {
    case .open: break
    case .failing(let reason): return .backingOff(reason, until: gate.notBefore)
    case .paused(let reason): return .paused(reason, until: gate.notBefore)
    case .misconfigured(let reason): return .configurationError(reason, until: gate.notBefore)
    }
    guard isOpen else { return .opening }
    let busy = lanes.filter { $0.hasWork || $0.current != nil }
    guard !busy.isEmpty, busy.allSatisfy({ $0.failure != nil }),
      let next = busy.min(by: { $0.notBefore < $1.notBefore }), let reason = next.failure
    else { return .delivering }
    return .backingOff(reason, until: next.notBefore)
  }

  /// Events taken from the bus that are not settled yet.
  public var waitingEvents: Int { backlog.waiting }

  public var waitingBytes: Int { backlog.cost }

  /// When the bus took the oldest of them.
  public var oldestWaiting: Timestamp? { backlog.oldest?.source.received }

  /// Users who have to wait.
  public var heldUsers: Int { lanes.reduce(0) { $0 + $1.held.count } }

}
