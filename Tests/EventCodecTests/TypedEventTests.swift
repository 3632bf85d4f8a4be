import EventCodec
import EventModel
import Primitives
import Testing

private let noon = Timestamp(nanoseconds: 1_714_564_800_000_000_000)
private let who = EventIdentity(userId: "u1", anonymousId: "a1")

private struct Purchase: PublishableEvent, SubscribableEvent, Codable, Hashable {
  static let eventType: EventType = "Purchase"
  struct Item: Codable, Hashable { var name: String, price: Double }
  var items: [Item]
  var paid: Bool
  var count: Int
  var total: Double
  var note: String?
  var at: Timestamp
}

@Suite struct TypedEventTests {
  @Test func `sample events come back typed`() throws {
    try roundTrip(EventType.GameStarted(opponentType: .human))
    try roundTrip(
      EventType.GameEnded(opponentType: .computer, winningPlayer: .second, moveCount: 12))
    try roundTrip(EventType.GameReset())
    try roundTrip(EventType.SurveyAnswer(question: "Like it?", answer: "h\u{E9}"))
  }

  @Test func `a Codable event with nested values comes back typed`() throws {
    let items = (0..<20).map { Purchase.Item(name: "n\($0)", price: Double($0) / 4) }
    try roundTrip(
      Purchase(items: items, paid: true, count: -7, total: 1, note: nil, at: noon))
  }

  @Test func `the canonical text has the exact keys in order`() throws {
    let json = try text(
      EventType.GameEnded(opponentType: .human, winningPlayer: .draw, moveCount: 31))
    #expect(json.hasPrefix(#"{"type":"track","event":"Game Ended","messageId":""#))
    #expect(
      json.hasSuffix(
        #""userId":"u1","anonymousId":"a1","timestamp":"2024-05-01T12:00:00.000Z","#
          + #""properties":{"Opponent Type":"human","Winning Player":"draw","#
          + #""Number of Moves":"> 30","value":31}}"#))
  }

  @Test func `no properties and empty properties are two things`() throws {
    #expect(!(try text(EventType.GameReset()).contains("properties")))
    #expect(try text(AnalyticsEvent("E", properties: [:])).hasSuffix(#""properties":{}}"#))
  }

  @Test func `types stay apart and what is not finite becomes null and is counted`() throws {
    let event = AnalyticsEvent(
      "E", properties: ["a": [true, 1, 1.0, "1", nil], "n": .double(.nan), "u": .uint(.max)])
    #expect(
      try text(event).hasSuffix(
        #"{"a":[true,1,1.0,"1",null],"n":null,"u":18446744073709551615}}"#))
    var encoder = EventEncoder()
    _ = try encoder.append(event, identity: who, time: noon)
    #expect(encoder.nonFiniteCount == 1)
  }

  @Test func `common properties are added and an event's own value wins`() throws {
    var encoder = EventEncoder()
    let event = AnalyticsEvent("E", properties: ["a": 1])
    _ = try encoder.append(event, identity: who, time: noon, common: ["a": 2, "b": 3])
    let envelope = try unsafe EventEnvelope(payload: encoder.bytes.span.bytes)
    #expect(envelope.properties == ["a": 1, "b": 3])
  }

  @Test func `what the bus refuses is refused before it is sent and nothing is appended`() throws {
    var encoder = EventEncoder()
    let large = AnalyticsEvent(
      "E", properties: ["x": .string(String(repeating: "y", count: 300_000))])
    var deep: PropertyValue = 1
    for _ in 0..<40 { deep = .array([deep]) }
    for event in [
      AnalyticsEvent(""), AnalyticsEvent("$page"), large,
      AnalyticsEvent("E", properties: ["d": deep]),
    ] {
      #expect(throws: EventEncodingError.self) {
        try encoder.append(event, identity: who, time: noon)
      }
    }
    #expect(encoder.bytes.isEmpty)
  }

  @Test func `an event that cannot be decoded says which property`() throws {
    var encoder = EventEncoder()
    let event = AnalyticsEvent("Game Started", properties: ["opponentType": 5])
    let range = try encoder.append(event, identity: who, time: noon)
    let payload = unsafe encoder.bytes.span.bytes.extracting(range)
    do {
      let event: EventType.GameStarted = try PayloadReader(payload).event()
      Issue.record("decoded \(event)")
    } catch {
      #expect(error == EventDecodingError(.wrongType, key: "opponentType"))
    }
  }

  private func roundTrip<E: PublishableEvent & SubscribableEvent & Equatable>(_ event: E) throws {
    var encoder = EventEncoder()
    let range = try encoder.append(event, identity: who, time: noon)
    let payload = unsafe encoder.bytes.span.bytes.extracting(range)
    let read: E = try PayloadReader(payload).event()
    #expect(read == event)
    let envelope = try EventEnvelope(payload: payload)
    #expect(envelope.timestamp == noon && envelope.topic == E.eventType.rawValue)
    var again: [UInt8] = []
    envelope.appendPayload(to: &again)
    #expect(again == payload.copied())
  }

  private func text(_ event: some PublishableEvent) throws -> String {
    var encoder = EventEncoder()
    _ = try encoder.append(event, identity: who, time: noon)
    var json: [UInt8] = []
    try unsafe CanonicalJSON.append(encoder.bytes.span.bytes, to: &json)
    return String(decoding: json, as: UTF8.self)
  }
}
