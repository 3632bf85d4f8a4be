import Primitives
import Testing

struct SteadyRateTests {
  @Test(arguments: [(0, 1000), (1, 20_001_000), (50, 1_000_001_000)] as [(UInt64, Int64)])
  func `each is due at its place from the start`(_ number: UInt64, _ due: Int64) {
    #expect(SteadyRate(50, from: 1000).due(number) == due)
  }

  @Test func `however small the rate, what is due is centuries ahead at most`() {
    #expect(SteadyRate(1e-300, from: 5).due(.max) == 9_000_000_000_000_000_005)
  }
}
