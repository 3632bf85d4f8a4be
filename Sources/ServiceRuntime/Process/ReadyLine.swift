/// The one line on stdout by which a service says that it can be used:
/// `ready bus=tcp://127.0.0.1:7400 live=tcp://127.0.0.1:7401`.
///
/// The word `ready`, then `key=value` separated by one space; keys and values hold no space and no
/// control character. A reader ignores keys it does not know.
public struct ReadyLine: Hashable, Sendable, CustomStringConvertible {
  public struct Address: Hashable, Sendable {
    public var key: String
    public var value: String
  }

  public private(set) var addresses: [Address]

  /// Traps when a key or value has spaces or control characters: they are addresses of our own.
  public init(_ addresses: [(key: String, value: String)]) {
    for (key, value) in addresses {
      precondition(Self.isPlain(key) && !key.contains("="), "not a key of a ready line: \(key)")
      precondition(Self.isPlain(value), "not a value of a ready line: \(value)")
    }
    self.addresses = addresses.map { Address(key: $0.key, value: $0.value) }
  }

  /// Nil when `line` is not a ready line. Words without `=` are ignored.
  public init?(line: String) {
    let words = line.split(separator: " ")
    guard words.first == "ready" else { return nil }
    addresses = words.dropFirst().compactMap { word in
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty else { return nil }
      return Address(key: String(parts[0]), value: String(parts[1]))
    }
  }

  public subscript(key: String) -> String? { addresses.first { $0.key == key }?.value }

  public var description: String {
    (["ready"] + addresses.map { "\($0.key)=\($0.value)" }).joined(separator: " ")
  }

  private static func isPlain(_ text: String) -> Bool {
    !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
  }
}
