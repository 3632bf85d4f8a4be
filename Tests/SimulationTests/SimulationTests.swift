import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A failing seed is named; `EVENTBUS_SIMULATION_SEED=N` runs that one alone, and
/// `EVENTBUS_SIMULATION_SEEDS=FROM-TO` runs others than the usual ones.
@Suite(.timeLimit(.minutes(5)))
struct SimulationTests {
  private static let seeds: [UInt64] = {
    if let text = environment("EVENTBUS_SIMULATION_SEED"), let seed = UInt64(text) { return [seed] }
    let bounds = environment("EVENTBUS_SIMULATION_SEEDS")?.split(separator: "-") ?? []
    if bounds.count == 2, let first = UInt64(bounds[0]), let last = UInt64(bounds[1]), first <= last
    {
      return Array(first...last)
    }
    return Array(0..<200)
  }()

  private static func environment(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }

  /// Four shares, so that a machine's cores are used.
  @Test(arguments: 0..<4)
  func `whatever breaks, the acknowledged is kept once and everyone gets it`(share: Int) throws {
    var crashes = 0
    var seeks = 0
    var deleted = 0
    for seed in Self.seeds where Int(seed % 4) == share {
      var simulation = BusSimulation(seed: seed)
      do {
        try simulation.run()
      } catch {
        Issue.record("EVENTBUS_SIMULATION_SEED=\(seed): \(error)")
      }
      crashes += simulation.crashes
      seeks += simulation.seeks
      deleted += simulation.deletedSegments
    }
    // A storm without a crash, a seek or a segment deleted would prove little.
    if Self.seeds.count >= 100 { #expect(crashes > 50 && seeks > 50 && deleted > 20) }
  }
}
