/// Cuts a stream of bytes into lines.
///
/// A line longer than 64 KiB is handed on in pieces, so that a child that writes without newlines
/// cannot fill the memory.
struct LineSplitter {
  static let maximumLine = 65_536
  private var rest: [UInt8] = []

  /// The lines completed by `bytes`, without their newlines. Bytes that are no UTF-8 become U+FFFD.
  mutating func append(_ bytes: some Sequence<UInt8>) -> [String] {
    var lines: [String] = []
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        lines.append(take())
      } else {
        rest.append(byte)
        if rest.count >= Self.maximumLine { lines.append(take()) }
      }
    }
    return lines
  }

  /// What is left at the end of the stream; nil when it ended with a newline.
  mutating func finish() -> String? { rest.isEmpty ? nil : take() }

  private mutating func take() -> String {
    defer { rest.removeAll(keepingCapacity: true) }
    if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
    return String(decoding: rest, as: UTF8.self)
  }
}
