/// Which event names a subscriber wants. Several together mean any of them; none means all.
///
/// The text is compared byte for byte. What a glob is, the model of event names defines: `*` stands for
/// any run of bytes, `\*` and `\\` are literal.
public struct NameFilter: Hashable, Sendable {
  public enum Kind: String, Sendable {
    case exact, prefix, glob
  }

  public var kind: Kind
  public var text: [UInt8]

  public init(_ kind: Kind, _ text: [UInt8]) {
    self.kind = kind
    self.text = text
  }

  public init(_ kind: Kind, _ text: String) { self.init(kind, Array(text.utf8)) }
}
