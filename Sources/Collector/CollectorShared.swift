internal import BusClient
internal import BusProtocol
internal import Primitives
internal import Synchronization

/// What the collector's threads share: counts, and how the bus is.
final class CollectorShared: Sendable {
  private struct State {
    var metrics = CollectorMetrics()
    var health: BusHealth
    /// Of the broker (`BusMark`).
    var mark: String?
  }

  private let state: Mutex<State>

  init(deadline: Int64, at now: Int64) {
    state = Mutex(State(health: BusHealth(deadline: deadline, at: now)))
  }

  func take(_ notice: ConnectionNotice, at now: Int64) {
    state.withLock { state in
      switch notice {
      case .connected(let broker):
        state.health.connected()
        state.mark = BusMark.text(of: broker)
      case .silent, .sessionLost, .absent: state.health.lost(at: now)
      case .refusedForNow(let code, _): state.health.pushedBack(code, at: now)
      case .gap, .caughtUp, .sought: break
      }
    }
  }

  /// Whether a request's mark is that of the bus that this collector publishes on.
  func isOwnBus(_ mark: String) -> Bool { state.withLock { $0.mark == mark } }

  func acknowledged() { state.withLock { $0.health.acknowledged() } }

  func refusal(at now: Int64) -> BusHealth.Refusal? {
    state.withLock { $0.health.refusal(at: now) }
  }

  func countBody(_ bytes: Int) { state.withLock { $0.metrics.bodyBytes += UInt64(bytes) } }

  /// An answer is about to leave.
  func count(_ route: String, status: UInt32, _ verdicts: Verdicts? = nil) {
    let counts = verdicts?.counts ?? [:]
    state.withLock { state in
      state.metrics.requests[.init(route, String(status)), default: 0] += 1
      state.metrics.count(counts, on: route)
    }
  }

  func metrics(at now: Int64) -> CollectorMetrics {
    state.withLock { state in
      var metrics = state.metrics
      metrics.isBusConnected = state.health.isConnected
      switch state.health.refusal(at: now) {
      case .away: metrics.trouble = "the bus cannot be reached"
      case .pushedBack(let code): metrics.trouble = "the bus takes no events: \(code)"
      case nil: break
      }
      return metrics
    }
  }
}
