import EventBus

extension EventType {
  struct LevelDone: PublishableEvent, SubscribableEvent, Codable {
    static let eventType: EventType = "Level Done"
    var level: Int
  }
}

func publishLevel(bus: String) async throws -> FlushResult {
  let producer = try Producer(ProducerConfiguration(address: bus, client: "my game"))
  try EventType.LevelDone(level: 7).publish(on: producer)
  return await producer.close()  // waits for the broker's disk, at most 10 s
}
