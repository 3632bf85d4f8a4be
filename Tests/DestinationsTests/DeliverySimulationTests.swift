import Testing

@testable import Destinations

/// The engine's decisions against a destination that plays every fault, in virtual time, by seeds. A
/// failure names its seed, which plays it again.
struct DeliverySimulationTests {
  @Test(arguments: 0..<8)
  func `every event ends once, in its user's order, whatever the destination does`(
    _ block: UInt64
  ) throws {
    for seed in block * 150..<(block + 1) * 150 {
      var simulation = DeliverySimulation(seed: seed)
      try simulation.run()
    }
  }
}
