import EventCodec
import EventModel
import Primitives
import Testing

@Suite struct CatalogTests {
  @Test func `a catalogue decodes by name and leaves names that it does not know`() throws {
    var encoder = EventEncoder()
    let event = EventType.GameStarted(opponentType: .computer)
    _ = try encoder.append(
      event, identity: EventIdentity(userId: "u", anonymousId: "a"),
      time: Timestamp(nanoseconds: 1))
    let payload = encoder.bytes
    let properties = try unsafe PayloadReader(payload.span.bytes).properties()
    let known = try EventCatalog.samples.decode("Game Started", properties: properties)
    #expect(known as? EventType.GameStarted == event)
    let unknown = try EventCatalog.samples.decode("game started", properties: properties)
    #expect(unknown == nil)
    #expect(throws: EventDecodingError.self) {
      let properties = try unsafe PayloadReader(payload.span.bytes).properties()
      _ = try EventCatalog.samples.decode("Survey Answer", properties: properties)
    }
  }
}
