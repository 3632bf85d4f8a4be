internal import BusProtocol
internal import Destinations
internal import EventCodec
internal import EventModel
internal import HTTPClient
internal import Primitives
internal import Testing

/// Events as the bus carries them, made from JSON.
enum Sample {
  static let received = Timestamp(nanoseconds: 1_764_000_000_000_000_000)

  static func payload(_ json: String) throws -> (name: [UInt8], payload: [UInt8]) {
    var reader = JSONEventReader()
    var payload: [UInt8] = []
    let text = Array(json.utf8)
    let name = try unsafe reader.read(
      text.span.bytes, received: received.nanoseconds, into: &payload)
    return (name, payload)
  }

  /// A track with further fields: `"properties":{...}`.
  static func track(
    _ event: String = "Game Ended", id: String = "m-1", user: String? = "u1", with rest: String = ""
  ) -> String {
    "{\"type\":\"track\",\"event\":\"\(event)\",\"messageId\":\"\(id)\","
      + (user.map { "\"userId\":\"\($0)\"," } ?? "")
      + "\"timestamp\":\"2024-05-01T12:00:00.000Z\"" + (rest.isEmpty ? "" : ",\(rest)") + "}"
  }
}

extension DestinationAdapter {
  /// What becomes of an event, and what would be sent for it.
  mutating func prepared(
    _ json: String, offset: UInt64 = 7, received: Timestamp = Sample.received
  ) throws -> (outcome: Preparation, text: String) {
    let (name, payload) = try Sample.payload(json)
    return prepared(name, payload, offset: offset, received: received)
  }

  private mutating func prepared(
    _ name: [UInt8], _ payload: [UInt8], offset: UInt64 = 7, received: Timestamp = Sample.received
  ) -> (outcome: Preparation, text: String) {
    var item: [UInt8] = []
    let source = EventSource(position: Position(epoch: 3, offset: offset), received: received)
    let outcome = unsafe prepare(name.span.bytes, payload.span.bytes, source, into: &item)
    return (outcome, String(decoding: item, as: UTF8.self))
  }

  /// The item of an event as it stands, which the bus has completed in nothing.
  mutating func item(_ event: EventEnvelope) throws -> String {
    var payload: [UInt8] = []
    event.appendPayload(to: &payload)
    let (outcome, text) = prepared(Array(event.topic.utf8), payload)
    try #require(outcome == .ready, "\(outcome)")
    return text
  }

  /// The item of an event that is taken.
  mutating func item(_ json: String) throws -> String {
    let (outcome, text) = try prepared(json)
    try #require(outcome == .ready, "\(outcome)")
    return text
  }

  mutating func refusal(_ json: String) throws -> String? {
    if case .refuse(let reason) = try prepared(json).outcome { reason } else { nil }
  }

  func verdict(_ status: Int, _ body: String, count: Int) -> DeliveryVerdict {
    verdict(
      HTTPReply(
        status: status, headers: [HTTPHeader("content-type", "application/json")],
        body: Array(body.utf8)), count: count, at: Sample.received)
  }
}

extension HTTPCall {
  func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}
