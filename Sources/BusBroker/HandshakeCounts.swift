internal import BusTransport
internal import Primitives
internal import Synchronization

/// Counts handshakes that failed, and says once a minute what to do about those that a person can mend.
///
/// Bounded: a row for each port and reason. Called by the threads that own the sockets.
final class HandshakeCounts: Sendable {
  private static let quietNanoseconds: Int64 = 60_000_000_000

  private struct Key: Hashable {
    var port: RefusalCounts.Port
    var reason: ConnectionEvent.Failure
  }

  private struct State {
    var counts: [Key: UInt64] = [:]
    var told: [Key: Int64] = [:]
  }

  private let state = Mutex(State())
  private let asksForKeys: Bool
  private let report: @Sendable (OperatorReport) -> Void

  init(asksForKeys: Bool, _ report: @escaping @Sendable (OperatorReport) -> Void) {
    self.asksForKeys = asksForKeys
    self.report = report
  }

  /// Reports taken in one turn; the rest waits.
  private static let turn = 1000

  /// Takes reports that wait at a socket made with `reportsFailures`.
  func read(
    _ socket: borrowing Socket, _ port: RefusalCounts.Port, using message: inout Message
  ) throws(TransportError) {
    for _ in 0..<Self.turn {
      guard let event = try socket.nextConnectionEvent(using: &message) else { return }
      if let reason = event.failure { count(Key(port: port, reason: reason)) }
    }
  }

  private func count(_ key: Key) {
    let now = SystemClock.monotonic()
    let isNews = state.withLock { state in
      state.counts[key, default: 0] += 1
      if let last = state.told[key], now - last < Self.quietNanoseconds { return false }
      state.told[key] = now
      return true
    }
    guard isNews, let why = why(key.reason) else { return }
    report(
      OperatorReport(
        .warning, "handshake", "\(why), port '\(key.port.rawValue)'"))
  }

  /// Nil for what scanners and clients that end do.
  private func why(_ reason: ConnectionEvent.Failure) -> String? {
    switch reason {
    case .keys where asksForKeys:
      "a client without keys was not let in: it needs --curve-key FILE and --server-key KEY"
    case .keys:
      "a client with keys was not let in: start the broker with --curve, or the client without keys"
    case .serverKey:
      "a client believes another broker: its --server-key is not this one's (`eventbus keys list`)"
    case .language, .ended: nil
    }
  }

  /// All ports and reasons, those without a failure too: a graph begins at zero.
  var all: [BrokerStatus.Handshakes] {
    let counts = state.withLock { $0.counts }
    return RefusalCounts.Port.allCases.flatMap { port in
      ConnectionEvent.Failure.allCases.map { reason in
        .init(
          port: port.rawValue, reason: reason.rawValue,
          count: counts[Key(port: port, reason: reason)] ?? 0)
      }
    }
  }
}
