internal import Primitives
internal import Testing

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Thousands of lives on a faulty disk. `EVENTBUS_SEED=<n>` runs the one life that a failure named.
struct JournalSimulationTests {
  static let livesPerTest: UInt64 = 300

  @Test(arguments: 0..<UInt64(8))
  func `what was acknowledged survives every crash`(part: UInt64) {
    let seeds =
      Self.chosenSeed.map { $0...$0 }
      ?? (part * Self.livesPerTest)...((part + 1) * Self.livesPerTest - 1)
    for seed in seeds {
      var simulation = JournalSimulation(seed: seed)
      do { try simulation.run() } catch {
        Issue.record("EVENTBUS_SEED=\(seed), session \(simulation.sessions): \(error)")
      }
    }
  }

  static var chosenSeed: UInt64? {
    guard let text = unsafe getenv("EVENTBUS_SEED") else { return nil }
    return UInt64(unsafe String(cString: text))
  }
}
