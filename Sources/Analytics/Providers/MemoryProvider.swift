internal import Synchronization

/// Keeps events in memory: for a screen that shows developers what their app sends.
///
/// Holds the newest `limit` events; the older ones go, and are counted.
public final class MemoryProvider: AnalyticsProvider {
  private struct State {
    var events: [StampedEvent] = []
    var dropped = 0
  }

  public let name: String
  public let limit: Int
  private let state = Mutex(State())

  public init(name: String = "memory", limit: Int = 1000) {
    self.name = name
    self.limit = max(1, limit)
  }

  public func deliver(_ event: StampedEvent) {
    state.withLock { state in
      state.events.append(event)
      guard state.events.count > limit else { return }
      state.events.removeFirst()
      state.dropped += 1
    }
  }

  public func erase() async { state.withLock { $0.events = [] } }

  /// In the order of tracking.
  public var events: [StampedEvent] { state.withLock { $0.events } }

  public var droppedCount: Int { state.withLock { $0.dropped } }
}
