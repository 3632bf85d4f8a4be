import EventModel
import EventObservation
import Synchronization
import Testing

/// S4.5: what an app that uses `NotificationCenter` today moves over to.
struct InProcessBusTests {
  @Test func `S4.5 an observer of a type gets its events typed, until its token goes`() {
    let bus = InProcessBus()
    let seen = Mutex<[OpponentType]>([])
    var token: InProcessBus.ObserverToken? = bus.addObserver(for: EventType.GameStarted.self) {
      let opponent = $0.opponentType
      seen.withLock { $0.append(opponent) }
    }
    bus.publish(EventType.GameStarted(opponentType: .human))
    bus.publish(EventType.GameReset())
    bus.publish(AnalyticsEvent("Game Started", properties: ["opponentType": "computer"]))
    bus.publish(EventType.GameStarted(opponentType: .computer))
    #expect(token != nil)
    token = nil
    bus.publish(EventType.GameStarted(opponentType: .human))
    #expect(seen.withLock { $0 } == [.human, .computer])
  }
}
