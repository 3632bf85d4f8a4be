internal import Primitives
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Cuts connections that take too long for a step, and lets refused clients finish sending.
///
/// libmicrohttpd only knows a time without any byte, which a client that drips never reaches; and it
/// closes a refused connection at once, upon which the kernel throws the refusal away if more of the
/// body arrives. One thread of its own looks once a second.
final class ConnectionClock: Sendable {
  /// Refused connections that are read on at a time, and how long and how far at most.
  private static let maximumLingering = 100
  private static let lingerBytes = 8 << 20
  private static let lingerNanoseconds: Int64 = 3_000_000_000

  private struct State {
    /// By socket: when its present step must be over.
    var deadlines: [Int32: Int64] = [:]
    var isFull = false
    var lastTold = Int64.min
    var lingering: [Lingering] = []
    var counters = HTTPServerCounters()
    var isStopping = false
  }

  private struct Lingering {
    var descriptor: Int32
    var until: Int64
    var bytesLeft = ConnectionClock.lingerBytes
  }

  private static let tellNanoseconds: Int64 = 60_000_000_000

  private let stepNanoseconds: Int64
  /// How much of a step's time is left to one that is cut while all connections are taken.
  private let crowdedLeftNanoseconds: Int64
  private let connections: Int
  private let state = Mutex(State())
  private let wake: WakeSignal
  /// Called once a second.
  private let tick: @Sendable () -> Void
  private let onFull: @Sendable (Int) -> Void

  /// - Parameter onFull: called when all connections are taken, at most once a minute.
  init(
    _ limits: HTTPLimits, onFull: @escaping @Sendable (Int) -> Void,
    tick: @escaping @Sendable () -> Void = {}
  ) throws(SystemError) {
    self.tick = tick
    self.onFull = onFull
    connections = limits.connections
    stepNanoseconds = Int64(limits.stepSeconds) * 1_000_000_000
    crowdedLeftNanoseconds = Int64(limits.stepSeconds - limits.crowdedSeconds) * 1_000_000_000
    wake = try WakeSignal()
  }

  /// Runs until `stop`; the thread keeps the clock alive.
  func start() throws(SystemError) -> OwnedThread {
    try OwnedThread(name: "eb-http-clock") { self.run() }
  }

  func stop() {
    state.withLock { $0.isStopping = true }
    wake.signal()
  }

  var counters: HTTPServerCounters {
    state.withLock { state in
      var counters = state.counters
      counters.connections = state.deadlines.count
      return counters
    }
  }

  func count(_ body: (inout HTTPServerCounters) -> Void) { state.withLock { body(&$0.counters) } }

  func opened(_ descriptor: Int32) {
    let deadline = SystemClock.monotonic() + stepNanoseconds
    state.withLock { state in
      state.counters.accepted += 1
      state.deadlines[descriptor] = deadline
    }
  }

  /// Called before the socket is closed, so that no number that is somebody else's by then is cut.
  func closed(_ descriptor: Int32) { state.withLock { state in state.deadlines[descriptor] = nil } }

  /// A new step begins.
  func begin(_ descriptor: Int32) {
    let deadline = SystemClock.monotonic() + stepNanoseconds
    set(descriptor, deadline)
  }

  /// It is the handler's turn, whose time is not the client's fault.
  func pause(_ descriptor: Int32) { set(descriptor, .max) }

  /// Only for connections that are open: the number of another may be somebody else's by now.
  private func set(_ descriptor: Int32, _ deadline: Int64) {
    state.withLock { state in
      if state.deadlines[descriptor] != nil { state.deadlines[descriptor] = deadline }
    }
  }

  /// Reads on behind a refusal, on a copy of the socket, until the client has had time to see it.
  func linger(_ descriptor: Int32) {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { return }
    let until = SystemClock.monotonic() + Self.lingerNanoseconds
    let isTaken = state.withLock { state in
      guard state.lingering.count < Self.maximumLingering, !state.isStopping else { return false }
      state.lingering.append(Lingering(descriptor: copy, until: until))
      return true
    }
    if isTaken { wake.signal() } else { close(copy) }
  }

  private func run() {
    var bytes = [UInt8](repeating: 0, count: 65536)
    while true {
      let (isStopping, lingering) = state.withLock { ($0.isStopping, $0.lingering) }
      if isStopping { break }
      var items = [pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)]
      items += lingering.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
      _ = unsafe poll(&items, nfds_t(items.count), 1000)
      wake.clear()
      drain(items.dropFirst(), lingering, &bytes)
      // Before some are cut.
      if isNewlyFull() { onFull(connections) }
      cutSlow()
      tick()
    }
    state.withLock { state in
      for item in state.lingering { close(item.descriptor) }
      state.lingering = []
    }
  }

  private func drain(
    _ items: ArraySlice<pollfd>, _ lingering: [Lingering],
    _ bytes: inout [UInt8]
  ) {
    let now = SystemClock.monotonic()
    for (item, connection) in zip(items, lingering) {
      var isOver = now >= connection.until
      var taken = 0
      if item.revents != 0 {
        let count = unsafe recv(item.fd, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        isOver = isOver || count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)
        taken = max(0, count)
      }
      isOver = isOver || taken >= connection.bytesLeft
      state.withLock { state in
        guard let index = state.lingering.firstIndex(where: { $0.descriptor == item.fd }) else {
          return
        }
        state.lingering[index].bytesLeft -= taken
        if isOver { state.lingering.remove(at: index) }
      }
      if isOver { close(item.fd) }
    }
  }

  private func cutSlow() {
    let now = SystemClock.monotonic()
    state.withLock { state in
      for (descriptor, deadline) in state.deadlines where deadline <= now {
        // libmicrohttpd finds the connection at its end and closes it.
        shutdown(descriptor, Int32(SHUT_RDWR))
        state.deadlines[descriptor] = .max
        state.counters.tooSlow += 1
      }
      guard state.deadlines.count >= connections else { return }
      // One that is never over is a handler's, or sleeps between two messages.
      for (descriptor, deadline) in state.deadlines
      where deadline != .max && deadline - crowdedLeftNanoseconds <= now {
        shutdown(descriptor, Int32(SHUT_RDWR))
        state.deadlines[descriptor] = .max
        state.counters.crowdedOut += 1
      }
    }
  }

  /// Whether to tell that all connections are taken.
  private func isNewlyFull() -> Bool {
    let now = SystemClock.monotonic()
    return state.withLock { state in
      let wasFull = state.isFull
      state.isFull = state.deadlines.count >= connections
      guard state.isFull, !wasFull else { return false }
      state.counters.full += 1
      guard state.lastTold == .min || now - state.lastTold >= Self.tellNanoseconds else {
        return false
      }
      state.lastTold = now
      return true
    }
  }
}
