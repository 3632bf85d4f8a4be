import BusBroker
import BusClient
import BusProtocol
import EventBus
import EventBusTestSupport
import EventModel
import TestSupport
import Testing

extension EventType {
  struct Tick: PublishableEvent, SubscribableEvent, Codable, Equatable {
    static let eventType: EventType = "Tick"
    var number: Int
  }
  /// Has the name of `Tick` and another shape.
  struct BadTick: PublishableEvent, Codable {
    static let eventType: EventType = "Tick"
    var number: String
  }
}

@Suite(.timeLimit(.minutes(5)))
struct TypedTests {
  @Test func `a typed event is read back typed, and one of another shape as undecodable`()
    async throws
  {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let producer = try Producer(.init(address: broker.addresses.bus, client: "test"))
    try EventType.Tick(number: 1).publish(on: producer)
    try EventType.BadTick(number: "two").publish(on: producer)
    try EventType.Tick(number: 3).publish(on: producer)
    #expect(await producer.flush(deadline: .seconds(10)).acknowledged == 3)
    let subscriber = try Subscriber(.init(address: broker.addresses.bus, client: "test"))
    var numbers: [Int?] = []
    for try await item in subscriber.events(of: EventType.Tick.self) {
      numbers.append(item.event?.number)
      if numbers.count == 3 { break }
    }
    #expect(numbers == [1, nil, 3])
    #expect(subscriber.status.undecodable == 1)
    let catalog = EventCatalog([EventType.Tick.self])
    let again = try Subscriber(.init(address: broker.addresses.bus, client: "test"))
    let batch = try #require(try again.nextBatch(deadline: .seconds(10)))
    #expect(batch.decode(by: catalog).count == 3)
    broker.stop()
    broker.join()
  }

  @Test func `observers are called in order, may publish, and go with their tokens`() throws {
    let bus = InProcessBus()
    let seen = Collector<String>()
    let first = bus.addObserver(for: EventType.Tick.self) { tick in
      seen.add("first \(tick.number)")
      if tick.number == 1 { bus.publish(EventType.Tick(number: 2)) }
    }
    var every: InProcessBus.ObserverToken? = bus.addObserver { seen.add("every \($0.eventType)") }
    let last = bus.addObserver(for: EventType.Tick.self) { seen.add("last \($0.number)") }
    try EventType.Tick(number: 1).publish(on: bus)
    #expect(seen.all == ["first 1", "first 2", "every Tick", "last 2", "every Tick", "last 1"])
    _ = every
    every = nil
    bus.removeObserver(first)
    bus.publish(EventType.Tick(number: 3))
    #expect(seen.all.suffix(1) == ["last 3"])
    #expect(seen.all.count == 7)
    withExtendedLifetime((first, last)) {}
  }

  @Test func `the recorder keeps what was published, and fails on demand`() throws {
    let recorder = EventRecorder()
    try EventType.Tick(number: 1).publish(on: recorder)
    recorder.fail(with: .closed)
    #expect(throws: BusClientError.closed) { try EventType.Tick(number: 2).publish(on: recorder) }
    #expect(recorder.events(of: EventType.Tick.self) == [EventType.Tick(number: 1)])
    #expect(recorder.calls.count == 2)
  }
}
