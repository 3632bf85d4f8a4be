internal import BusProtocol
internal import EventCodec

/// Why one event was not taken: for programs, for people, and where in the event.
struct EventRefusal: Error, Hashable {
  /// A `RefusalCode`; as text, since the bus may be newer.
  var code: String
  var reason: String
  /// The property concerned, for Mixpanel's answers; may be empty.
  var field = ""

  init(code: String, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  init(_ code: RefusalCode, _ reason: String, field: String = "") {
    self.code = code.rawValue
    self.reason = reason
    self.field = field
  }

  init(_ error: CodecError) { self.init(error.reason.code, error.description) }

  static let noIdentity = EventRefusal(
    .noIdentity, "it needs a userId or an anonymousId (an alias: a userId and a previousId)")
  static let messageIdTooLong = EventRefusal(
    .badPayload, "its messageId has more than \(maximumMessageIdBytes) bytes")

  /// A longer `messageId` is refused: cut, two events could become one.
  static let maximumMessageIdBytes = 256
}
