/// The one line on stdout by which a service says that it can be used:
/// `ready bus=tcp://127.0.0.1:7400 live=tcp://127.0.0.1:7401`.
///
/// The word `ready`, then `key=value` separated by one space. In values (a folder can have any name) blanks,
/// control characters and `%` stand as `%20`, `%0A`, `%25`. A reader ignores keys it does not know.
public struct ReadyLine: Hashable, Sendable, CustomStringConvertible {
  public struct Address: Hashable, Sendable {
    public var key: String
    public var value: String
  }

  public private(set) var addresses: [Address]

  /// Traps when a key has spaces or control characters: they are words of our own.
  public init(_ addresses: [(key: String, value: String)]) {
    for (key, _) in addresses {
      precondition(Self.isPlain(key) && !key.contains("="), "not a key of a ready line: \(key)")
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
      return Address(key: String(parts[0]), value: Self.decoded(parts[1]))
    }
  }

  public subscript(key: String) -> String? { addresses.first { $0.key == key }?.value }

  public var description: String {
    (["ready"] + addresses.map { "\($0.key)=\(Self.encoded($0.value))" }).joined(separator: " ")
  }

  private static func isPlain(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
  }

  private static func encoded(_ value: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in value.utf8 {
      if byte > 0x20 && byte != 0x7F && byte != UInt8(ascii: "%") {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func decoded(_ text: Substring) -> String {
    let bytes = Array(text.utf8)
    var decoded: [UInt8] = []
    var at = 0
    while at < bytes.count {
      if bytes[at] == UInt8(ascii: "%"), at + 2 < bytes.count,
        let byte = UInt8(String(decoding: bytes[at + 1...at + 2], as: UTF8.self), radix: 16)
      {
        decoded.append(byte)
        at += 3
      } else {
        decoded.append(bytes[at])
        at += 1
      }
    }
    return String(decoding: decoded, as: UTF8.self)
  }
}
