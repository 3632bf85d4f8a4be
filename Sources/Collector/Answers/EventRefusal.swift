internal import EventCodec

/// Why one event was not taken: for programs, for people, and where in the event.
struct EventRefusal: Error, Hashable {
  /// Upper case, words joined by underscores, as the bus's own codes.
  var code: String
  var reason: String
  /// The property concerned, for Mixpanel's answers; may be empty.
  var field = ""

  init(_ code: String, _ reason: String, field: String = "") {
    self.code = code
    self.reason = reason
    self.field = field
  }

  init(_ error: CodecError) {
    code = Self.code(ofCase: "\(error.reason)")
    reason = error.description
  }

  static let noIdentity = EventRefusal(
    "NO_IDENTITY", "it needs a userId or an anonymousId (an alias: a userId and a previousId)")
  static let messageIdTooLong = EventRefusal(
    "MESSAGE_ID", "its messageId has more than \(maximumMessageIdBytes) bytes")

  /// A longer `messageId` is refused: cut, two events could become one.
  static let maximumMessageIdBytes = 256

  /// `eventName` becomes `EVENT_NAME`, `notUTF8` becomes `NOT_UTF8`.
  static func code(ofCase name: String) -> String {
    var code = ""
    var wasLower = false
    for character in name {
      if character.isUppercase, wasLower { code += "_" }
      wasLower = character.isLowercase
      code += character.uppercased()
    }
    return code
  }
}
