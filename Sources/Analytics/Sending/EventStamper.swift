internal import EventCodec
internal import Primitives

/// Gives events what they do not say themselves: a messageId, who it is about, the common properties and
/// the context. An event's own value wins.
struct EventStamper: Sendable {
  var identity = EventIdentity(anonymousId: "")
  var common = PropertyObject()
  /// Context that all events get, without the session.
  var context = PropertyObject() { didSet { packedContext = nil } }
  var sessionId: String? { didSet { packedContext = nil } }

  private var encoder: EventEncoder
  private var ids: UUIDv7Generator
  private var packedContext: [UInt8]?

  init(seed: UInt64) {
    encoder = EventEncoder(ids: UUIDv7Generator(seed: seed))
    ids = UUIDv7Generator(seed: seed ^ 0x9E37_79B9_7F4A_7C15)
  }

  /// Numbers that became null so far, for want of a text in JSON.
  var nonFiniteCount: Int { encoder.nonFiniteCount }

  mutating func newID(at time: Timestamp) -> String { ids.next(at: time).description }

  mutating func stamp(
    _ event: any PublishableEvent, at time: Timestamp
  ) throws(EventEncodingError) -> StampedEvent {
    encoder.removeAll()
    let range = try encoder.append(
      event, identity: identity, time: time, common: common.isEmpty ? nil : common,
      context: currentContext())
    return StampedEvent(
      topic: event.eventType.rawValue, payload: encoder.bytes[range].exactCopy)
  }

  /// The same for an event that is no track. Common properties are a track's and a screen's.
  mutating func stamp(
    _ envelope: EventEnvelope, at time: Timestamp
  ) throws(EventEncodingError) -> StampedEvent {
    try StampedEvent(completed(envelope, at: time))
  }

  mutating func completed(_ envelope: EventEnvelope, at time: Timestamp) -> EventEnvelope {
    var envelope = envelope
    if envelope.messageId == nil { envelope.messageId = newID(at: time) }
    if envelope.userId == nil { envelope.userId = identity.userId }
    if envelope.anonymousId == nil, !identity.anonymousId.isEmpty {
      envelope.anonymousId = identity.anonymousId
    }
    if envelope.timestamp == nil { envelope.timestamp = time }
    if [.track, .screen, .page].contains(envelope.kind), !common.isEmpty {
      envelope.properties = (envelope.properties ?? [:]).merging(common)
    }
    let context = contextObject
    if !context.isEmpty {
      let own = envelope[.context]?.objectValue ?? [:]
      envelope[.context] = .object(own.merging(context))
    }
    return envelope
  }

  private var contextObject: PropertyObject {
    var object = context
    if let sessionId { object["sessionId"] = .string(sessionId) }
    return object
  }

  private mutating func currentContext() -> [UInt8] {
    if let packedContext { return packedContext }
    let object = contextObject
    var packed: [UInt8] = []
    if !object.isEmpty {
      var writer = PropertyWriter()
      writer.write(.object(object))
      packed = writer.output.bytes
    }
    packedContext = packed
    return packed
  }
}
