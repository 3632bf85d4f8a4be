/// What the oracle found.
struct SimulationFailure: Error, CustomStringConvertible {
  var description: String
}

func require(_ condition: Bool, _ text: @autoclosure () -> String) throws(SimulationFailure) {
  if !condition { throw SimulationFailure(description: text()) }
}
