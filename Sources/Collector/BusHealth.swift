internal import Primitives

/// Whether the bus takes events, as the producer's notices tell. Pure: times come in.
struct BusHealth: Sendable {
  /// What a new request is told instead of being taken.
  enum Refusal: Hashable, Sendable {
    /// The bus was not reached for longer than a request may wait.
    case away
    /// The broker asks to wait.
    case pushedBack(code: String)
  }

  /// How long a refusal counts when nothing more is heard: the producer tries again within five seconds.
  static let fullDisk: Int64 = 6_000_000_000
  /// An overload is short, and much of what waits passes meanwhile.
  static let overload: Int64 = 500_000_000

  private let deadline: Int64
  private var awaySince: Int64?
  private var pushback: (code: String, at: Int64)?

  init(deadline: Int64, at now: Int64) {
    self.deadline = deadline
    awaySince = now
  }

  var isConnected: Bool { awaySince == nil }

  mutating func connected() { awaySince = nil }
  mutating func lost(at now: Int64) { awaySince = awaySince ?? now }
  mutating func pushedBack(_ code: String, at now: Int64) { pushback = (code, now) }
  mutating func acknowledged() { pushback = nil }

  func refusal(at now: Int64) -> Refusal? {
    if let pushback {
      let lasts = pushback.code == "OVERLOAD" ? Self.overload : Self.fullDisk
      if now - pushback.at < lasts { return .pushedBack(code: pushback.code) }
    }
    if let awaySince, now - awaySince >= deadline { return .away }
    return nil
  }
}

extension RequestFailure {
  init(_ refusal: BusHealth.Refusal) {
    switch refusal {
    case .away:
      self.init(503, "bus_away", "the bus cannot be reached; send it again", retryAfter: 5)
    case .pushedBack(let code):
      self.init(
        429, "slow_down", "the bus takes no events now (\(code)); send it again",
        retryAfter: code == "OVERLOAD" ? 1 : 5)
    }
  }
}
