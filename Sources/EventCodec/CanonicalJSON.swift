internal import EventModel
internal import Primitives

/// Writes payloads as canonical JSON: one line, fields in order, numbers so that they read back the same.
///
/// Integers keep their digits; a double is the shortest text that reads back as the same one, always
/// with a point or an exponent, so that 1, 1.0 and true stay three things; control characters, U+007F,
/// U+2028 and U+2029 are escaped, all other text stands as it is.
public enum CanonicalJSON {
  /// Fields that a tool may put behind the event's own. An event that has been printed and published
  /// again has `offset` and `epoch` of its own: these then go, since a key stands once in an object.
  public struct Additions: Hashable, Sendable {
    public var offset: UInt64?
    public var epoch: UInt32?
    /// Nanoseconds since 1970; written only when the event has no `receivedAt` of its own.
    public var receivedAt: Int64?

    public init(offset: UInt64? = nil, epoch: UInt32? = nil, receivedAt: Int64? = nil) {
      self.offset = offset
      self.epoch = epoch
      self.receivedAt = receivedAt
    }

    fileprivate func replace(_ key: RawSpan) -> Bool {
      switch key.byteCount {
      case 6: unsafe offset != nil && key.isEqual(to: Self.offsetKey.span.bytes)
      case 5: unsafe epoch != nil && key.isEqual(to: Self.epochKey.span.bytes)
      default: false
      }
    }

    private static let offsetKey = Array("offset".utf8)
    private static let epochKey = Array("epoch".utf8)
  }

  /// Appends an event as one JSON object, without a newline.
  ///
  /// - Throws: `CodecError` when `payload` is no event; `output` is as it was.
  public static func append(
    _ payload: RawSpan, _ additions: Additions = Additions(), to output: inout [UInt8]
  ) throws(CodecError) {
    let start = output.count
    do throws(MessagePackError) {
      try write(payload, additions, &output)
    } catch {
      output.removeSubrange(start...)
      throw CodecError(error)
    }
  }

  /// Appends one MessagePack value as JSON.
  public static func append(value: RawSpan, to output: inout [UInt8]) throws(CodecError) {
    let start = output.count
    do throws(MessagePackError) {
      var reader = MessagePackReader(value)
      try write(&reader, depth: 0, &output)
    } catch {
      output.removeSubrange(start...)
      throw CodecError(error)
    }
  }

  private static func write(
    _ payload: RawSpan, _ additions: Additions, _ output: inout [UInt8]
  ) throws(MessagePackError) {
    var reader = MessagePackReader(payload)
    output.append(UInt8(ascii: "{"))
    var received = additions.receivedAt
    let count = try reader.readMapHeader()
    let start = output.count
    for _ in 0..<count {
      let key = payload.extracting(try reader.readStringRange())
      let field = unsafe key.withUnsafeBytes { unsafe EnvelopeField.named($0) }
      if field == nil, additions.replace(key) {
        try reader.skip()
        continue
      }
      if output.count > start { output.append(UInt8(ascii: ",")) }
      text(key, &output)
      output.append(UInt8(ascii: ":"))
      if field == .receivedAt { received = nil }
      if field == .timestamp || field == .receivedAt, try isInteger(reader) {
        output.append(UInt8(ascii: "\""))
        Timestamp(nanoseconds: try reader.readInt()).appendText(to: &output)
        output.append(UInt8(ascii: "\""))
      } else {
        try write(&reader, depth: 0, &output)
      }
    }
    if let received {
      addition("receivedAt", &output)
      output.append(UInt8(ascii: "\""))
      Timestamp(nanoseconds: received).appendText(to: &output)
      output.append(UInt8(ascii: "\""))
    }
    if let offset = additions.offset { addition("offset", &output, "\(offset)") }
    if let epoch = additions.epoch { addition("epoch", &output, "\(epoch)") }
    output.append(UInt8(ascii: "}"))
  }

  private static func addition(_ key: StaticString, _ output: inout [UInt8], _ value: String = "") {
    output.append(contentsOf: ",\"\(key)\":\(value)".utf8)
  }

  private static func isInteger(_ reader: borrowing MessagePackReader) throws(MessagePackError)
    -> Bool
  {
    switch try reader.peek() {
    case 0x00...0x7F, 0xE0...0xFF, 0xCC...0xD3: true
    default: false
    }
  }

  private static func write(
    _ reader: inout MessagePackReader, depth: Int, _ output: inout [UInt8]
  ) throws(MessagePackError) {
    let type = try reader.peek()
    switch type {
    case 0xC0:
      _ = try reader.readNilIfPresent()
      output.append(contentsOf: "null".utf8)
    case 0xC2, 0xC3: output.append(contentsOf: (try reader.readBool() ? "true" : "false").utf8)
    case 0xCF: decimal(try reader.readUInt(), &output)
    case 0x00...0x7F, 0xE0...0xFF, 0xCC...0xD3:
      let value = try reader.readInt()
      if value < 0 { output.append(UInt8(ascii: "-")) }
      decimal(value.magnitude, &output)
    case 0xCA, 0xCB: output.append(contentsOf: "\(try reader.readDouble())".utf8)
    case 0xA0...0xBF, 0xD9...0xDB:
      text(reader.bytes.extracting(try reader.readStringRange()), &output)
    case 0x90...0x9F, 0xDC, 0xDD: try array(&reader, depth, &output)
    case 0x80...0x8F, 0xDE, 0xDF: try map(&reader, depth, &output)
    default: throw MessagePackError(.wrongType, at: reader.position)
    }
  }

  /// Levels that are written at most; what was taken in has fewer, so this only guards the stack.
  private static let deepest = 128

  private static func array(
    _ reader: inout MessagePackReader, _ depth: Int, _ output: inout [UInt8]
  ) throws(MessagePackError) {
    guard depth < deepest else { throw MessagePackError(.tooDeep, at: reader.position) }
    output.append(UInt8(ascii: "["))
    for index in 0..<(try reader.readArrayHeader()) {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      try write(&reader, depth: depth + 1, &output)
    }
    output.append(UInt8(ascii: "]"))
  }

  private static func map(
    _ reader: inout MessagePackReader, _ depth: Int, _ output: inout [UInt8]
  ) throws(MessagePackError) {
    guard depth < deepest else { throw MessagePackError(.tooDeep, at: reader.position) }
    output.append(UInt8(ascii: "{"))
    for index in 0..<(try reader.readMapHeader()) {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      text(reader.bytes.extracting(try reader.readStringRange()), &output)
      output.append(UInt8(ascii: ":"))
      try write(&reader, depth: depth + 1, &output)
    }
    output.append(UInt8(ascii: "}"))
  }

  private static func decimal(_ value: UInt64, _ output: inout [UInt8]) {
    if value < 10 { return output.append(UInt8(48 + value)) }
    var digits: InlineArray<20, UInt8> = .init(repeating: 0)
    var rest = value
    var at = 20
    while rest > 0 {
      at -= 1
      digits[at] = UInt8(48 + rest % 10)
      rest /= 10
    }
    for index in at..<20 { output.append(digits[index]) }
  }
}

extension CanonicalJSON {
  /// A text with its quotes. Runs of plain bytes are copied at once.
  public static func text(_ utf8: RawSpan, _ output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    unsafe utf8.withUnsafeBytes { bytes in
      var plain = 0
      var index = 0
      while index < bytes.count {
        // Eight bytes at a time while all are plain ASCII.
        if index + 8 <= bytes.count,
          unsafe isPlain(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
        {
          index += 8
          continue
        }
        let byte = unsafe bytes[index]
        guard needsEscape(byte) else {
          index += 1
          continue
        }
        let length = unsafe escapeLength(bytes, index)
        guard length > 0 else {
          index += 1
          continue
        }
        unsafe output.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[plain..<index]))
        unsafe escape(bytes, index, length, &output)
        index += length
        plain = index
      }
      unsafe output.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[plain...]))
    }
    output.append(UInt8(ascii: "\""))
  }

  /// Whether no byte is a control, `"`, `\\`, U+007F or beyond ASCII.
  @inline(__always) private static func isPlain(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let found =
      (word &- 0x2020_2020_2020_2020) | ((word ^ (0x22 * ones)) &- ones)
      | ((word ^ (0x5C * ones)) &- ones) | ((word ^ (0x7F * ones)) &- ones) | word
    return found & (0x80 * ones) == 0
  }

  @inline(__always) private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == 0x22 || byte == 0x5C || byte == 0x7F || byte == 0xE2
  }

  /// Bytes of the character to escape; 0 when an 0xE2 begins another than U+2028 and U+2029.
  private static func escapeLength(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> Int {
    guard unsafe bytes[index] == 0xE2 else { return 1 }
    guard index + 2 < bytes.count, unsafe bytes[index + 1] == 0x80 else { return 0 }
    return unsafe bytes[index + 2] == 0xA8 || bytes[index + 2] == 0xA9 ? 3 : 0
  }

  private static func escape(
    _ bytes: UnsafeRawBufferPointer, _ index: Int, _ length: Int, _ output: inout [UInt8]
  ) {
    let byte = unsafe bytes[index]
    switch byte {
    case 0x22: output.append(contentsOf: [0x5C, 0x22])
    case 0x5C: output.append(contentsOf: [0x5C, 0x5C])
    case 0x0A: output.append(contentsOf: "\\n".utf8)
    case 0x0D: output.append(contentsOf: "\\r".utf8)
    case 0x09: output.append(contentsOf: "\\t".utf8)
    case 0x08: output.append(contentsOf: "\\b".utf8)
    case 0x0C: output.append(contentsOf: "\\f".utf8)
    case 0xE2:
      output.append(contentsOf: unsafe bytes[index + 2] == 0xA8 ? "\\u2028".utf8 : "\\u2029".utf8)
    default:
      let digits = Array("0123456789abcdef".utf8)
      output.append(contentsOf: "\\u00".utf8)
      output.append(digits[Int(byte >> 4)])
      output.append(digits[Int(byte & 15)])
    }
  }
}
