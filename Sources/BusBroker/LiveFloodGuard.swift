internal import CPlatform
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
/// more come in: a flood of them is stored without end, or faster than the owner reads of them. So this
/// thread looks twenty times a second whether the live thread has read all that came. If not, though it
/// works, it watches what comes in on the live port, and from `maximumBytes` on ends the connection that has
/// sent most.
final class LiveFloodGuard: Sendable {
  /// What may come in while the live thread is behind: 20,000 subscriptions of some length.
  static let maximumBytes: UInt64 = 2 << 20
  private static let interval: Int64 = 50_000_000
  /// What a thread that works has at least of it, also on a machine that is busy otherwise. One that waits
  /// has a hundredth of that.
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
  private let port: UInt16
  private let wake: WakeSignal
  private let isStopped = Atomic(false)
  private let thread = Mutex<OwnedThread?>(nil)

  /// - Parameter address: where the live feed is bound, as `tcp://127.0.0.1:7401`.
  init(_ pulse: Pulse, address: String) throws(SystemError) {
    self.pulse = pulse
    port = address.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
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
    var before: [Int32: UInt64]?
    while !isStopped.load(ordering: .relaxed) {
      var item = pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&item, 1, Int32(Self.interval / 1_000_000))
      let (turnsNow, cpuNow) = (pulse.turn, pulse.cpuNanoseconds)
      let isBehind = turnsNow == turns && cpuNow - cpu > Self.working
      (turns, cpu) = (turnsNow, cpuNow)
      guard isBehind else {
        before = nil
        continue
      }
      let now = received()
      if let before { cutFlood(now, since: before) } else { before = now }
    }
  }

  /// Ends the connections that have sent most, until what is left is within the bound.
  private func cutFlood(_ now: [Int32: UInt64], since before: [Int32: UInt64]) {
    var sent = now.map { (descriptor: $0.key, bytes: $0.value &- (before[$0.key] ?? 0)) }
      .sorted { $0.bytes < $1.bytes }
    var total = sent.reduce(0) { $0 &+ $1.bytes }
    while total > Self.maximumBytes, let most = sent.popLast() {
      // Nobody else's: a descriptor that was closed meanwhile has no such port.
      guard eb_received_bytes(most.descriptor, port) != .max else { continue }
      shutdown(most.descriptor, Int32(SHUT_RDWR))
      pulse.cut.add(1, ordering: .relaxed)
      total &-= most.bytes
    }
  }

  /// Bytes that came in by each connection of the port.
  private func received() -> [Int32: UInt64] {
    var counts: [Int32: UInt64] = [:]
    guard let directory = unsafe opendir("/proc/self/fd") else { return counts }
    defer { unsafe closedir(directory) }
    while let entry = unsafe readdir(directory) {
      let descriptor = unsafe withUnsafeBytes(of: entry.pointee.d_name) { name in
        unsafe Int32(String(decoding: name.prefix { $0 != 0 }, as: UTF8.self))
      }
      guard let descriptor else { continue }
      let bytes = eb_received_bytes(descriptor, port)
      if bytes != .max { counts[descriptor] = bytes }
    }
    return counts
  }
}
