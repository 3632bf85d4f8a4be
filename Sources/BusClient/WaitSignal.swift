internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Lets an ordinary thread wait for another: a wake-up that is kept until somebody waited for it.
///
/// Check the state under its lock, `clear` there when it is not as wanted, then `wait` outside.
final class WaitSignal: Sendable {
  private let wake: WakeSignal

  init() throws(BusClientError) {
    do throws(SystemError) {
      wake = try WakeSignal()
    } catch {
      throw .system(text: error.description)
    }
  }

  func signal() { wake.signal() }
  func clear() { wake.clear() }

  /// Blocks until signalled or until `deadline`, a monotonic time; false when that has passed.
  func wait(until deadline: Int64) -> Bool {
    while true {
      let left = deadline == .max ? Int64.max : deadline - SystemClock.monotonic()
      if left <= 0 { return false }
      var item = pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)
      // At most a day at a time: poll takes an Int32 of milliseconds.
      let milliseconds = Int32(min(left / 1_000_000 + 1, 86_400_000))
      if unsafe poll(&item, 1, milliseconds) > 0 { return true }
    }
  }
}

/// The monotonic time `duration` from now; `nil` and times beyond the clock mean never.
func deadline(after duration: Duration?) -> Int64 {
  guard let duration else { return .max }
  let (sum, overflow) = SystemClock.monotonic().addingReportingOverflow(duration.nanoseconds)
  return overflow ? .max : sum
}
