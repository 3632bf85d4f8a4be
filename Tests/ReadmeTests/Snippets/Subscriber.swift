import EventBus

func nextLevel(bus: String) async throws -> Int? {
  var configuration = SubscriberConfiguration(address: bus, client: "levels", name: "levels")
  configuration.filters = [NameFilter(.exact, "Level Done")]
  let subscriber = try Subscriber(configuration)
  for try await entry in subscriber.events(of: EventType.LevelDone.self) {
    guard case .event(let event, at: let position) = entry else { continue }
    print("offset \(position.offset): level \(event.level)")
    return event.level  // go on instead, and each batch is committed when its last event was taken
  }
  return nil
}
