import Analytics
import Foundation
import Primitives
import Synchronization
import Testing

/// S1.1: the ad-hoc event.
@Suite struct EventTests {
  @Test func `S1.1 an event has a name, the time it was made, and properties`() {
    let before = Timestamp.now()
    let event = AnalyticsEvent(name: "Opened", properties: ["a": 1])
    #expect(event.name == "Opened" && event.eventProperties == ["a": 1])
    #expect(event.timestamp >= before && event.timestamp <= .now())
    #expect(AnalyticsEvent(name: "Opened").eventProperties == nil)
  }

  @Test func `S1.1 it goes through a coder and comes back the same`() throws {
    let event = AnalyticsEvent(
      name: "Post Opened", timestamp: Timestamp(nanoseconds: 1_796_032_800_123_000_000),
      properties: [
        "bool": true, "one": 1, "large": .uint(.max), "half": 1.5, "text": "Zürich 🎮", "null": nil,
        "list": [1, "a", false], "map": ["b": ["c": 2]],
      ])
    let data = try JSONEncoder().encode(event)
    let text = String(decoding: data, as: UTF8.self)
    #expect(text.contains(#""timestamp":"2026-11-30T10:00:00.123Z""#), "\(text)")
    let back = try JSONDecoder().decode(AnalyticsEvent.self, from: data)
    #expect(back.name == event.name && back.timestamp == event.timestamp)
    let members = try #require(back.eventProperties)
    for member in event.eventProperties?.members ?? [] {
      #expect(members[member.key] == member.value, "\(member.key)")
    }
    #expect(members.count == 8)
  }

  @Test func `names the protocol, the struct and their names at destinations are as agreed`() {
    let typed: any PublishableEvent = EventType.GameStarted(opponentType: .human)
    let adHoc: any PublishableEvent = AnalyticsEvent("Game Started")
    #expect(typed.eventType == adHoc.eventType)
    #expect(typed.eventType.segmentName == "Game Started")
    #expect(typed.eventType.gameAnalyticsName == "game:started")
    #expect(typed.eventType.notificationName.rawValue == "Game Started")
    #expect(EventType(notificationName: .init("Game Started")) == typed.eventType)
    #expect(
      EventType.allEventTypes == ["Game Started", "Game Ended", "Game Reset", "Survey Answer"])
  }

  @Test func `S4.5 an app moves from NotificationCenter to a bus with typed observers`() {
    let bus = InProcessBus()
    let seen = Mutex<[Bool]>([])
    let token = bus.addObserver(for: EventType.PostLiked.self) { event in
      seen.withLock { $0.append(event.liked) }
    }
    FeedAnalyticalRegistry(bus).postLiked(true)
    FeedAnalyticalRegistry(bus).postOpened()
    #expect(seen.withLock { $0 } == [true])
    withExtendedLifetime(token) {}
  }

  @Test func `S2.1 a Date is a property, to the microsecond`() {
    #expect(
      PropertyValue(Date(timeIntervalSince1970: 1_796_032_800.123456))
        == "2026-11-30T10:00:00.123456Z")
    #expect(Timestamp(Date.distantFuture).nanoseconds == 9_200_000_000_000_000_000)
  }
}
