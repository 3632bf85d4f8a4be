internal import Synchronization

/// Keeps events in memory: for a screen that shows developers what their app sends.
///
/// Holds the newest `limit` events; the older ones go, and are counted.
public final class MemoryProvider: AnalyticsProvider {
  private struct State {
    var events: [StampedEvent] = []
    var dropped = 0
  }

  /// `memory`, unless it was given another.
  public let name: String
  /// The most events it holds.
  public let limit: Int
  private let state = Mutex(State())

  /// - Parameter limit: at least 1.
  public init(name: String = "memory", limit: Int = 1000) {
    self.name = name
    self.limit = max(1, limit)
  }

  /// Keeps the event.
  public func deliver(_ event: StampedEvent) {
    state.withLock { state in
      state.events.append(event)
      guard state.events.count > limit else { return }
      state.events.removeFirst()
      state.dropped += 1
    }
  }

  /// Forgets all events.
  public func erase() async { state.withLock { $0.events = [] } }

  /// In the order of tracking.
  public var events: [StampedEvent] { state.withLock { $0.events } }

  /// How many older events went for newer ones.
  public var droppedCount: Int { state.withLock { $0.dropped } }
}
