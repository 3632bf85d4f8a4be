internal import Primitives
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Cuts connections that keep the live thread inside of libzmq with subscriptions.
///
/// An XPUB puts every subscription that has come into its tree before its owner sees one, and goes on while
/// more come in: a flood of them is stored without end, or faster than the owner reads of them. And it takes
/// out those of each connection that ends by walking the whole tree, which can hold up the owner for seconds
/// while others come. So this thread looks twenty times a second whether the live thread has read all that
/// came. If not, though it works, it watches what comes in on the live port, and does as `LiveFloodBudget` says.
final class LiveFloodGuard: Sendable {
  private static let interval: Int64 = 50_000_000
  /// While the live thread is behind: what comes and goes between two looks is not counted.
  private static let closeInterval: Int64 = 5_000_000
  /// What a thread that works has at least of an `interval`, also on a machine that is busy otherwise. One
  /// that waits has a hundredth of that.
  private static let working: Int64 = 500_000

  /// What the live thread tells about itself.
  final class Pulse: Sendable {
    /// Rises whenever the live thread has read all subscriptions that came.
    private let turns = Atomic<UInt64>(0)
    let cut = Atomic<UInt64>(0)
    fileprivate let clock = Atomic<Int32>(0)

    /// On the live thread, before its first turn.
    func begin() {
      var id = clockid_t()
      guard unsafe pthread_getcpuclockid(pthread_self(), &id) == 0 else { return }
      clock.store(Int32(id), ordering: .relaxed)
    }

    func caughtUp() { turns.add(1, ordering: .relaxed) }
    fileprivate var turn: UInt64 { turns.load(ordering: .relaxed) }

    fileprivate var cpuNanoseconds: Int64 {
      var time = timespec()
      let id = clockid_t(clock.load(ordering: .relaxed))
      guard id != 0, unsafe clock_gettime(id, &time) == 0 else { return 0 }
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
  }

  private let pulse: Pulse
  private let port: LivePort
  private let wake: WakeSignal
  private let isStopped = Atomic(false)
  private let thread = Mutex<OwnedThread?>(nil)

  /// - Parameter address: where the live feed is bound, as `tcp://127.0.0.1:7401`.
  init(_ pulse: Pulse, address: String) throws(SystemError) {
    self.pulse = pulse
    port = LivePort(address)
    wake = try WakeSignal()
    let started = try OwnedThread(name: "eb-live-guard") { [self] in run() }
    thread.withLock { $0 = started }
  }

  /// Before the live thread ends.
  func stop() {
    isStopped.store(true, ordering: .relaxed)
    wake.signal()
    thread.withLock { $0.take() }?.join()
  }

  private func run() {
    var turns: UInt64 = 0
    var cpu: Int64 = 0
    var budget = LiveFloodBudget()
    var takesConnections = true
    var interval = Self.interval
    while !isStopped.load(ordering: .relaxed) {
      var item = pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&item, 1, Int32(interval / 1_000_000))
      let (turnsNow, cpuNow) = (pulse.turn, pulse.cpuNanoseconds)
      defer { (turns, cpu) = (turnsNow, cpuNow) }
      var verdict = LiveFloodBudget.Verdict()
      interval = Self.interval
      if turnsNow != turns {
        budget.settle()
      } else if budget.isOpen || cpuNow - cpu > Self.working {
        let start = SystemClock.monotonic()
        verdict = budget.look(port.received(), at: start)
        // A fifth of a core at most, however many connections there are.
        interval = max(Self.closeInterval, 4 * (SystemClock.monotonic() - start))
      }
      for descriptor in verdict.ended where port.end(descriptor) {
        pulse.cut.add(1, ordering: .relaxed)
      }
      if verdict.takesConnections != takesConnections {
        takesConnections = verdict.takesConnections
        port.takeConnections(takesConnections)
      }
    }
  }
}
