internal import Synchronization

/// A clock that stands still until a test moves it.
public final class ManualClock: Clock, Sendable {
  /// A moment, from the making of the clock on.
  public struct Instant: InstantProtocol, Sendable {
    /// Since the clock was made.
    public var offset: Duration

    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    public func duration(to other: Instant) -> Duration { other.offset - offset }
    public static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
  }

  private struct State {
    var now = Instant(offset: .zero)
    var sleepers: [Int: (until: Instant, waiter: CheckedContinuation<Bool, Never>)] = [:]
    var cancelled: Set<Int> = []
    var nextID = 0
  }

  private let state = Mutex(State())

  /// Stands at zero.
  public init() {}

  /// Where it stands.
  public var now: Instant { state.withLock { $0.now } }
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// How many wait for the clock to move.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    let isDue = await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let isOver: Bool? = state.withLock { state in
          if state.cancelled.remove(id) != nil { return false }
          if deadline <= state.now { return true }
          state.sleepers[id] = (deadline, waiter)
          return nil
        }
        if let isOver { waiter.resume(returning: isOver) }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        let sleeper = state.sleepers.removeValue(forKey: id)
        if sleeper == nil { state.cancelled.insert(id) }
        return sleeper
      }
      sleeper?.waiter.resume(returning: false)
    }
    if !isDue { throw CancellationError() }
  }

  /// Moves the clock on, and wakes who waited for a moment up to then, in the order of those moments.
  public func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.value.until <= state.now }
      for id in due.keys { state.sleepers[id] = nil }
      return due.values.sorted { $0.until < $1.until }
    }
    for sleeper in due { sleeper.waiter.resume(returning: true) }
  }
}
