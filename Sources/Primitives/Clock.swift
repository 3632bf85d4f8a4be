internal import CPlatform

/// The two clocks of the system, in nanoseconds. Cores take a time as an argument; only shells call these.
public enum SystemClock {
  /// Since an arbitrary start; never goes back. For durations and deadlines.
  public static func monotonic() -> Int64 { eb_monotonic_ns() }
  /// Since 1970 UTC; may jump when the clock is set.
  public static func realtime() -> Int64 { eb_realtime_ns() }
}

extension Duration {
  /// The duration in nanoseconds, at its bounds where it does not fit.
  public var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isJustTooLong) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    guard !isTooLong && !isJustTooLong else { return self < .zero ? .min : .max }
    return sum
  }
}

public enum SystemMemory {
  /// Gives freed memory that the allocator keeps back to the system (with glibc; elsewhere it does so by
  /// itself). Some milliseconds: after a burst, not in a loop.
  public static func releaseFreed() { eb_release_freed_memory() }
}
