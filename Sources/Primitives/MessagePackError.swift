/// Why bytes are not the MessagePack that was asked for, and at which byte.
public struct MessagePackError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Kind: String, Sendable {
    case truncated = "the value is cut off"
    case wrongType = "the value has another type"
    case unknownType = "the type byte is not used"
    case outOfRange = "the number does not fit"
    case invalidUTF8 = "the text is not UTF-8"
    case duplicateKey = "a key stands there twice"
    case tooDeep = "the value is nested too deeply"
  }

  public var kind: Kind
  /// The byte where the value in question begins, counted from the start of what was read.
  public var position: Int

  @inlinable
  public init(_ kind: Kind, at position: Int) {
    self.kind = kind
    self.position = position
  }

  public var description: String { "\(kind.rawValue) at byte \(position)" }
}
