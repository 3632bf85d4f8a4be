import Primitives

/// So many events a second, counted from when it is made: who was held up sends what fell due meanwhile at once.
struct SteadyRate {
  private let perSecond: Double
  private let start = SystemClock.monotonic()

  init(_ perSecond: Double) { self.perSecond = perSecond }

  /// Waits until the event with this number is due; false when `end` came first, or a request to end.
  func wait(for number: Int, until end: Int64 = .max, _ interruption: Interruption) -> Bool {
    let due = start + Int64(Double(number) * 1e9 / perSecond)
    while true {
      let now = SystemClock.monotonic()
      guard now < end, !interruption.isRequested else { return false }
      guard due > now else { return true }
      // At least a millisecond: what falls due meanwhile follows at once, and the processor rests.
      Pause.wait(milliseconds: Int32(min(100, (due - now) / 1_000_000 + 1)))
    }
  }
}
