public import BusProtocol

extension CodecError.Reason {
  /// Under which code an event with this fault is refused, whatever way it came. The reason's own text says
  /// more than a code for each could: programs tell a name from a payload, people read.
  public var code: RefusalCode {
    switch self {
    case .noEvent, .eventName, .otherName: .badName
    case .tooLarge: .tooLarge
    case .empty, .cutOff, .syntax, .notAnObject, .trailing, .number, .numberTooLarge,
      .controlCharacter, .escape, .surrogate, .notUTF8, .tooDeep, .duplicateKey, .keyNotText,
      .binary, .type, .fieldType:
      .badPayload
    }
  }
}
