import Analytics
import Foundation
import Primitives
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
}
