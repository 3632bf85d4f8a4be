import EventCodec
import EventModel
import Primitives
import SinkState

/// Payloads for the tests of sinks.
struct SampleEvent {
  var name = "Sold"
  var messageId: PropertyValue?
  var userId: PropertyValue?
  var anonymousId: PropertyValue?
  var previousId: PropertyValue?
  var timestamp: Int64 = 5
  var value = 0
  var sentAt: String?
  var receivedAt: Int64?

  var payload: [UInt8] {
    var envelope = EventEnvelope(
      EventType(rawValue: name), properties: ["value": .int(Int64(value))])
    envelope[.messageId] = messageId
    envelope[.userId] = userId
    envelope[.anonymousId] = anonymousId
    envelope[.previousId] = previousId
    envelope.timestamp = Timestamp(nanoseconds: timestamp)
    envelope[.sentAt] = sentAt.map { .string($0) }
    envelope.receivedAt = receivedAt.map { Timestamp(nanoseconds: $0) }
    var bytes: [UInt8] = []
    envelope.appendPayload(to: &bytes)
    return bytes
  }

  var fields: EventFields {
    get throws { try unsafe EventFields(reading: payload.span.bytes) }
  }
}
