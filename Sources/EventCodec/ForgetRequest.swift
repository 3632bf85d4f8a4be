// The payload of `$forget`, the event by which every sink erases a person:
//
//   type         "track"
//   event        "$forget"
//   messageId    as every event has one
//   userId       text: erase the events that have it as userId or anonymousId      at least one
//   anonymousId  text: the same                                                    of the two
//   timestamp    when it was asked for
//
// Only a producer that asks for it may publish one (HELLO, `forget`); it goes to everybody, never to
// named subscribers alone. A sink erases what it has of these people from before the event's offset,
// keeps what comes after it, and stores the keyed hashes of the ids, never the ids themselves.
internal import EventModel
public import Primitives

/// Whom a sink is to forget.
public struct ForgetRequest: Hashable, Sendable {
  public let userId: String?
  public let anonymousId: String?

  /// At least one of the ids, and none empty; else nil: nobody is meant.
  public init?(userId: String? = nil, anonymousId: String? = nil) {
    guard userId != nil || anonymousId != nil, userId != "", anonymousId != "" else { return nil }
    self.userId = userId
    self.anonymousId = anonymousId
  }

  /// Reads the payload of an event whose name is `$forget`.
  ///
  /// - Throws: `CodecError` when it names nobody. The broker lets none through, so a sink that meets one
  ///   may pass over it.
  public init(payload: RawSpan) throws(CodecError) {
    let reader = PayloadReader(payload)
    let ids: (user: String?, anonymous: String?)
    do throws(MessagePackError) {
      ids = (try reader.text("userId"), try reader.text("anonymousId"))
    } catch {
      throw CodecError(error)
    }
    guard let request = ForgetRequest(userId: ids.user, anonymousId: ids.anonymous) else {
      throw CodecError(.fieldType, at: 0, "$forget needs a userId or an anonymousId")
    }
    self = request
  }

  /// The event that asks for it.
  public func payload(messageId: UUIDv7, at time: Timestamp) -> [UInt8] {
    var envelope = EventEnvelope(EventType(String(decoding: EventName.forget, as: UTF8.self)))
    envelope.messageId = messageId.description
    envelope.userId = userId
    envelope.anonymousId = anonymousId
    envelope.timestamp = time
    var bytes: [UInt8] = []
    envelope.appendPayload(to: &bytes)
    return bytes
  }
}
