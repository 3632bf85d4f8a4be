import Primitives
import Testing

@testable import Destinations

struct StepBackoffTests {
  @Test func `waits grow, and stay within their steps`() {
    var random = SeededRandom(seed: 1)
    var backoff = StepBackoff(base: .milliseconds(500), limit: .seconds(300))
    var ceiling: Int64 = 500_000_000
    for _ in 0..<20 {
      let wait = backoff.next(using: &random)
      #expect((ceiling / 2...ceiling).contains(wait))
      ceiling = min(ceiling * 2, 300_000_000_000)
    }
  }
}
