internal import Synchronization

/// Requests by the ids of their events, so that one sent again is not stored again: while the first is on its
/// way to the bus, and when the bus took it after its client had been told to send it again.
///
/// What the client was told is forgotten here: the same ids later are another request, and sinks tell
/// doubles. Bounded: what is under way by the producer's memory, the rest by `limit`, oldest first.
final class InDoubt<Receipt: Sendable>: Sendable {
  /// Called with what became of the first request; nil: it was not stored.
  typealias Waiter = @Sendable (Receipt?) -> Void

  /// How long it is known what became of a request that nobody was told about.
  static var life: Int64 { 600_000_000_000 }

  private enum Entry {
    case underWay([Waiter])
    case done(Receipt, at: Int64)
  }

  private struct State {
    var entries: [UInt64: Entry] = [:]
    /// The keys of what is done, oldest first.
    var done: [UInt64] = []
  }

  private let state = Mutex(State())
  private let limit: Int

  init(limit: Int = 10_000) { self.limit = limit }

  /// What became of an earlier request of these ids that nobody was told about.
  func receipt(of key: UInt64, at now: Int64) -> Receipt? {
    state.withLock { state in
      guard case .done(let receipt, let time)? = state.entries[key], now - time < Self.life else {
        return nil
      }
      return receipt
    }
  }

  /// False: events of these ids are under way already, and `waiter` hears of them. True: this request is
  /// the first, and ends with `finish`.
  func begin(_ key: UInt64, orJoin waiter: @escaping Waiter) -> Bool {
    state.withLock { state in
      guard case .underWay(let waiters)? = state.entries[key] else {
        state.entries[key] = .underWay([])
        return true
      }
      state.entries[key] = .underWay(waiters + [waiter])
      return false
    }
  }

  /// - Parameters:
  ///   - receipt: nil when the events were not stored.
  ///   - wasTold: whether the first request was answered with it.
  func finish(_ key: UInt64, _ receipt: Receipt?, wasTold: Bool, at now: Int64) {
    let waiters = state.withLock { state -> [Waiter] in
      guard case .underWay(let waiters)? = state.entries.removeValue(forKey: key) else { return [] }
      if let receipt, !wasTold {
        state.entries[key] = .done(receipt, at: now)
        state.done.append(key)
        shorten(&state)
      }
      return waiters
    }
    for waiter in waiters { waiter(receipt) }
  }

  /// Half at a time, so that it costs little each.
  private func shorten(_ state: inout State) {
    guard state.done.count > limit else { return }
    let gone = state.done.count / 2 + 1
    for key in state.done.prefix(gone) {
      if case .done = state.entries[key] { state.entries[key] = nil }
    }
    state.done.removeFirst(gone)
  }
}
