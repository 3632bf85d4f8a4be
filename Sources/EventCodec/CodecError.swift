public import Primitives

/// What an event may be; the defaults are the bus's own.
public struct CodecLimits: Hashable, Sendable {
  /// Bytes of the event as it is given, and as it is encoded.
  public var eventBytes: Int
  /// Levels of containers that the value of one property (or of one field of the context) may have. The
  /// envelope and `properties` themselves are not counted, so `{"properties": {"a": [[1]]}}` has two.
  public var depth: Int

  public init(eventBytes: Int = 256 << 10, depth: Int = 32) {
    self.eventBytes = eventBytes
    self.depth = depth
  }

  /// Containers that may be open at once within the envelope: the field's own object, and the levels.
  var openContainers: Int { depth + 1 }
}

extension CodecError {
  /// A fault in MessagePack.
  public init(_ error: MessagePackError) {
    let reason: Reason =
      switch error.kind {
      case .tooDeep: .tooDeep
      case .duplicateKey: .duplicateKey
      case .truncated: .cutOff
      case .invalidUTF8: .notUTF8
      default: .syntax
      }
    self.init(reason, at: error.position, "\(error)")
  }
}

/// Why bytes are not an event: what, and at which byte of them.
public struct CodecError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Reason: String, Sendable, CaseIterable {
    case empty = "it is empty"
    case cutOff = "it ends too early"
    case syntax = "this is not JSON"
    case notAnObject = "an event is an object"
    case trailing = "something follows the event"
    case number = "a number is not written as JSON writes it"
    case numberTooLarge = "a number needs more than 64 bits, or is no finite double"
    case controlCharacter = "a text holds a bare control character; JSON escapes it"
    case escape = "a text has an escape that JSON does not know"
    case surrogate = "a text holds half of a surrogate pair"
    case notUTF8 = "a text is not UTF-8"
    case tooDeep = "it is nested too deeply: 32 levels are the usual limit"
    case duplicateKey = "a key stands there twice"
    case tooLarge = "it is larger than an event may be"
    case keyNotText = "a key is not text"
    case binary = "binary and extension values have no JSON"
    case type = "type must be track, identify, page, screen, group or alias"
    case noEvent = "a track needs an event name (text)"
    case eventName = "the event name cannot be used"
    case otherName = "its event is not the name it was sent under"
    case fieldType = "a field of the envelope has a value of the wrong kind"
  }

  public var reason: Reason
  /// Bytes from the start of the event.
  public var position: Int
  /// More about it, as the name concerned; may be empty.
  public var detail: String

  public init(_ reason: Reason, at position: Int, _ detail: String = "") {
    self.reason = reason
    self.position = position
    self.detail = detail
  }

  public var description: String { "\(text) (at byte \(position))" }

  /// The same for bytes that nobody wrote by hand: without the position.
  public var text: String { reason.rawValue + (detail.isEmpty ? "" : ": \(detail)") }
}
