import Testing

/// The simulation is worth what it finds. Each rule is broken on purpose, and the storm must show it.
@Suite(.timeLimit(.minutes(5)))
struct PlantedBugTests {
  @Test(arguments: PlantedBug.allCases)
  func `a rule that is broken is told`(bug: PlantedBug) throws {
    for seed in 0..<UInt64(300) {
      var simulation = BusSimulation(seed: seed, bug: bug)
      do {
        try simulation.run()
      } catch {
        let text = "\(error)"
        #expect(
          bug.evidence.contains { text.contains($0) },
          "seed \(seed) told of something else: \(text)")
        return
      }
    }
    Issue.record("300 storms went by as if \(bug.rawValue) were right")
  }
}
