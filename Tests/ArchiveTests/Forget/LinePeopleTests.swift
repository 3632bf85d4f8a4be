import Hashing
import Primitives
import SinkState
import Testing

@testable import Archive

struct LinePeopleTests {
  /// Ids as events can have them; what cannot be read as an id is nobody for both.
  private static let ids = [
    nil, "null", "\"\"", "\"a\"", "\"b\"", "\"42\"", "42", "-7", "1.5", "1.50", "1e3", "true",
    "18446744073709551615", "\"x\\\"\\\\\\u0001\\n\"", "\"\\u00e9\"", "\"é\"", "\"\\u2028\\u007f\"",
    "\"\\ud83d\\ude00\"",
  ]

  @Test func `a line's people and name are those of its event`() throws {
    let key = KeyedHash(key: [UInt8](repeating: 3, count: 16))
    var lines = LinePeople(key: key)
    var random = SeededRandom(seed: 11)
    for number in 0..<2000 {
      var fields =
        number % 4 == 0 ? ["\"type\":\"alias\""] : ["\"event\":\"Name \\u00e9 \(number % 7)\""]
      for field in ["userId", "anonymousId", "previousId"] {
        guard let id = Self.ids.randomElement(using: &random) ?? nil else { continue }
        fields.append("\"\(field)\":\(id)")
      }
      fields.append("\"timestamp\":\(1_700_000_000 + number)")
      fields.append("\"properties\":{\"userId\":\"no\"}")
      let payload = try RandomEvents.payload(
        "{\(fields.shuffled(using: &random).joined(separator: ","))}")
      let line = try RandomEvents.line(payload)
      let isRead = unsafe lines.read(line.span.bytes)
      #expect(isRead)
      let event = try unsafe EventFields(reading: payload.span.bytes)
      var people: Set<Hash128> = []
      for range in [event.userId, event.anonymousId, event.previousId] {
        let person = try unsafe PersonHash.hash(range, in: payload.span.bytes, by: key)
        if let person { people.insert(person) }
      }
      #expect(Set(lines.people) == people)
      #expect(lines.timestamp == event.timestamp)
      let name = number % 4 == 0 ? "$alias" : "Name é \(number % 7)"
      #expect(unsafe lines.topic(line.span.bytes) == Array(name.utf8))
    }
  }

  @Test func `a line that is cut off is no event, or has only people it has`() throws {
    let payload = try RandomEvents.payload(
      #"{"event":"A","userId":"one","anonymousId":"two","timestamp":1700000000}"#)
    let line = try RandomEvents.line(payload)
    var lines = LinePeople(key: KeyedHash(key: [UInt8](repeating: 3, count: 16)))
    for length in 0..<line.count {
      let part = Array(line[..<length])
      _ = unsafe lines.read(part.span.bytes)
      #expect(lines.people.count <= 2)
    }
  }
}
