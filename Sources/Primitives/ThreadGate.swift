internal import CPlatform
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

#if os(Linux)
  typealias ThreadGate = PollGate

  /// What a thread waits at until another one opens it, at once or later.
  ///
  /// Opening it later arms a timer and wakes nobody now, so it costs the caller one short system call,
  /// where a wake-up may cost it its processor.
  final class PollGate: Sendable {
    private let wake: WakeSignal
    private let timer: Int32

    init() throws(SystemError) {
      wake = try WakeSignal()
      timer = try SystemError.check("timerfd_create") { eb_timerfd() }
    }

    deinit { close(timer) }

    func open() { wake.signal() }

    /// Opens it after so many nanoseconds; an earlier call of this is forgotten.
    func open(after nanoseconds: Int64) { eb_timerfd_arm(timer, nanoseconds) }

    /// Blocks until it was opened since the last wait.
    func wait() {
      var items = [
        pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: timer, events: Int16(POLLIN), revents: 0),
      ]
      // Interrupted or not, the caller looks what there is to do, and waits again.
      _ = unsafe poll(&items, 2, -1)
      wake.clear()
      var expirations: UInt64 = 0
      _ = unsafe read(timer, &expirations, 8)
    }
  }
#else
  typealias ThreadGate = ConditionGate
#endif

/// The same by a condition variable, which every system has; `open(after:)` wakes the thread, which then
/// waits for the rest of the time.
@safe final class ConditionGate: @unchecked Sendable {
  // The gate has a lock of its own; `later` is touched under it by way of the Swift lock below.
  private let gate: OpaquePointer
  private let later = LaterTime()

  init() throws(SystemError) {
    guard let gate = unsafe eb_gate_new() else {
      throw SystemError(call: "pthread_cond_init", code: ENOMEM)
    }
    unsafe self.gate = gate
  }

  deinit { unsafe eb_gate_free(gate) }

  func open() {
    later.isNow()
    unsafe eb_gate_open(gate)
  }

  func open(after nanoseconds: Int64) {
    later.set(SystemClock.monotonic() + max(1, nanoseconds))
    unsafe eb_gate_open(gate)
  }

  func wait() {
    unsafe eb_gate_wait(gate, -1)
    while let rest = later.rest(at: SystemClock.monotonic()) { unsafe eb_gate_wait(gate, rest) }
  }
}

/// When a gate opens that was told a time; nil once it is open.
private final class LaterTime: Sendable {
  private let time = Mutex<Int64?>(nil)

  func set(_ new: Int64) { time.withLock { $0 = new } }
  func isNow() { time.withLock { $0 = nil } }

  /// Nanoseconds until then; nil, and forgotten, when it is over or there is none.
  func rest(at now: Int64) -> Int64? {
    time.withLock { time in
      guard let until = time, until > now else {
        time = nil
        return nil
      }
      return until - now
    }
  }
}
