import EventBus

extension EventType {
  struct LevelLost: PublishableEvent { static let eventType: EventType = "Level Lost" }
}

func startProgram(bus: String) throws -> Producer {
  try EventBus.bootstrap(address: bus, client: "my game")  // once, where the program starts
}

func loseLevel() throws {
  try EventType.LevelLost().publish()  // anywhere, in one line
}

func observeLevels(
  on bus: InProcessBus, _ report: @escaping @Sendable (Int) -> Void
) -> InProcessBus.ObserverToken {
  bus.addObserver(for: EventType.LevelDone.self) { report($0.level) }
}
