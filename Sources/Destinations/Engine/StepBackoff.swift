internal import Primitives

/// Exponential back-off whose waits always grow: the n-th is random over the whole step between the
/// ceiling before it and its own.
///
/// Jitter from zero would spread a fleet a little better, but here a wait shorter than the one before
/// would look to the destination, and to a person who reads its log, as if nothing were learnt.
struct StepBackoff: Sendable {
  let base: Int64
  let limit: Int64
  private(set) var failures = 0

  init(base: Duration, limit: Duration) {
    self.base = max(1, base.nanoseconds)
    self.limit = max(1, limit.nanoseconds)
  }

  mutating func reset() { failures = 0 }

  mutating func next(using random: inout SeededRandom) -> Int64 {
    let ceiling = min(limit, base << min(failures, 20))
    failures += 1
    return Int64.random(in: (ceiling / 2)...ceiling, using: &random)
  }
}
