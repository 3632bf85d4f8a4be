internal import HTTPServer
internal import Primitives
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Requests whose events are on their way to the bus, so that none waits beyond its deadline.
final class PendingRequests: Sendable {
  struct Pending: Sendable {
    var deadline: Int64
    var expire: @Sendable () -> Void
  }

  private struct State {
    var next: UInt64 = 0
    var waiting: [UInt64: Pending] = [:]
    var isStopping = false
  }

  private let state = Mutex(State())
  private let wake: WakeSignal

  init() throws(SystemError) { wake = try WakeSignal() }

  var count: Int { state.withLock { $0.waiting.count } }

  /// Notes a request; `expire` is called at its deadline, unless it was settled.
  func add(deadline: Int64, expire: @escaping @Sendable () -> Void) -> UInt64 {
    state.withLock { state in
      state.next += 1
      state.waiting[state.next] = Pending(deadline: deadline, expire: expire)
      return state.next
    }
  }

  /// Nobody who waits now waits longer than until then.
  func shorten(to deadline: Int64) {
    state.withLock { state in
      for (id, request) in state.waiting where request.deadline > deadline {
        state.waiting[id]?.deadline = deadline
      }
    }
  }

  /// True for who comes first: the answer of the bus, or the deadline.
  func settle(_ id: UInt64) -> Bool {
    state.withLock { $0.waiting.removeValue(forKey: id) != nil }
  }

  /// Looks at the deadlines until `stop`, four times a second.
  func start() throws(SystemError) -> OwnedThread {
    try OwnedThread(name: "eb-collector") {
      while !self.state.withLock({ $0.isStopping }) {
        self.rest()
        self.expireOverdue()
      }
    }
  }

  func stop() {
    state.withLock { $0.isStopping = true }
    wake.signal()
  }

  private func rest() {
    var item = pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&item, 1, 250)
    wake.clear()
  }

  private func expireOverdue() {
    let now = SystemClock.monotonic()
    let overdue = state.withLock { state in
      let overdue = state.waiting.filter { $0.value.deadline <= now }
      for id in overdue.keys { state.waiting[id] = nil }
      return overdue.values.map(\.expire)
    }
    for expire in overdue { expire() }
  }
}
