import Primitives

extension SteadyRate {
  /// Waits until the one with this number is due; false when `end` came first, or a request to end.
  func wait(for number: UInt64, until end: Int64 = .max, _ interruption: Interruption) -> Bool {
    let due = due(number)
    while true {
      let now = SystemClock.monotonic()
      guard now < end, !interruption.isRequested else { return false }
      guard due > now else { return true }
      // At least a millisecond: what falls due meanwhile follows at once, and the processor rests.
      interruption.wait(milliseconds: Int32(min(100, (due - now) / 1_000_000 + 1)))
    }
  }
}
