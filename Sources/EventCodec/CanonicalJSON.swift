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
    var places = FieldPlaces()
    try append(payload, additions, to: &output, noting: &places)
  }

  /// The same, and notes where the envelope's fields stand in `payload`: who looks at some of them next need
  /// not search them again.
  public static func append(
    _ payload: RawSpan, _ additions: Additions, to output: inout [UInt8],
    noting places: inout FieldPlaces
  ) throws(CodecError) {
    try write(payload.byteCount, to: &output) { (output) throws(MessagePackError) in
      try event(payload, additions, &output, &places)
    }
  }

  /// Appends one MessagePack value as JSON.
  public static func append(value: RawSpan, to output: inout [UInt8]) throws(CodecError) {
    try write(value.byteCount, to: &output) { (output) throws(MessagePackError) in
      var reader = MessagePackReader(value)
      try self.value(&reader, depth: 0, &output)
    }
  }

  /// A text with its quotes.
  public static func text(_ utf8: RawSpan, _ output: inout [UInt8]) {
    output.append(addingCapacity: JSONOutput.capacity(forPacked: utf8.byteCount)) { space in
      unsafe space.withUnsafeMutableBufferPointer { memory, count in
        var json = unsafe JSONOutput(UnsafeMutableRawBufferPointer(memory), count: count)
        json.text(utf8)
        count = json.count
      }
    }
  }

  /// Lets `body` write behind `output` what `packed` bytes of MessagePack give; nothing is left of it
  /// when it throws.
  @inline(__always)
  private static func write(
    _ packed: Int, to output: inout [UInt8],
    _ body: (inout JSONOutput) throws(MessagePackError) -> Void
  ) throws(CodecError) {
    var failure: MessagePackError?
    output.append(addingCapacity: JSONOutput.capacity(forPacked: packed)) { space in
      unsafe space.withUnsafeMutableBufferPointer { memory, count in
        var json = unsafe JSONOutput(UnsafeMutableRawBufferPointer(memory), count: count)
        do throws(MessagePackError) {
          try body(&json)
          count = json.count
        } catch {
          failure = error
        }
      }
    }
    if let failure { throw CodecError(failure) }
  }

  private static func event(
    _ payload: RawSpan, _ additions: Additions, _ output: inout JSONOutput,
    _ places: inout FieldPlaces
  ) throws(MessagePackError) {
    var reader = MessagePackReader(payload)
    output.append(UInt8(ascii: "{"))
    var received = additions.receivedAt
    let count = try reader.readMapHeader()
    places.begin(at: reader.position)
    let start = output.count
    for _ in 0..<count {
      let keyStart = reader.position
      let key = payload.extracting(try reader.readStringRange())
      let field = unsafe key.withUnsafeBytes { unsafe EnvelopeField.named($0) }
      if field == nil, additions.replace(key) {
        try reader.skip()
        continue
      }
      if output.count > start { output.append(UInt8(ascii: ",")) }
      output.text(key)
      output.append(UInt8(ascii: ":"))
      if field == .receivedAt { received = nil }
      let valueStart = reader.position
      if field == .timestamp || field == .receivedAt, try isTime(reader) {
        output.time(try reader.readInt())
      } else {
        try value(&reader, depth: 0, &output)
      }
      if let field { places.add(field, key: keyStart, value: valueStart, end: reader.position) }
    }
    places.end = reader.position
    add(additions, receivedAt: received, &output)
    output.append(UInt8(ascii: "}"))
  }

  private static func add(
    _ additions: Additions, receivedAt: Int64?, _ output: inout JSONOutput
  ) {
    if let receivedAt {
      output.append(",\"receivedAt\":")
      output.time(receivedAt)
    }
    if let offset = additions.offset {
      output.append(",\"offset\":")
      output.decimal(offset)
    }
    if let epoch = additions.epoch {
      output.append(",\"epoch\":")
      output.decimal(UInt64(epoch))
    }
  }

  /// Whether an integer follows that is a time. One beyond 63 bits is none, and stands as it is.
  private static func isTime(_ reader: borrowing MessagePackReader) throws(MessagePackError) -> Bool
  {
    switch try reader.peek() {
    case 0xCF:
      var ahead = MessagePackReader(reader.bytes, at: reader.position)
      return try ahead.readUInt() <= UInt64(Int64.max)
    case 0x00...0x7F, 0xE0...0xFF, 0xCC...0xD3: return true
    default: return false
    }
  }

  private static func value(
    _ reader: inout MessagePackReader, depth: Int, _ output: inout JSONOutput
  ) throws(MessagePackError) {
    let type = try reader.peek()
    switch type {
    case 0xC0:
      _ = try reader.readNilIfPresent()
      output.append("null")
    case 0xC2, 0xC3: output.append(try reader.readBool() ? "true" : "false")
    case 0xCF: output.decimal(try reader.readUInt())
    case 0x00...0x7F, 0xE0...0xFF, 0xCC...0xD3: output.integer(try reader.readInt())
    case 0xCA, 0xCB: output.double(try reader.readDouble())
    case 0xA0...0xBF, 0xD9...0xDB:
      output.text(reader.bytes.extracting(try reader.readStringRange()))
    case 0x90...0x9F, 0xDC, 0xDD: try array(&reader, depth, &output)
    case 0x80...0x8F, 0xDE, 0xDF: try map(&reader, depth, &output)
    default: throw MessagePackError(.wrongType, at: reader.position)
    }
  }

  /// Levels that are written at most; what was taken in has fewer, so this only guards the stack.
  private static let deepest = 128

  private static func array(
    _ reader: inout MessagePackReader, _ depth: Int, _ output: inout JSONOutput
  ) throws(MessagePackError) {
    guard depth < deepest else { throw MessagePackError(.tooDeep, at: reader.position) }
    output.append(UInt8(ascii: "["))
    for index in 0..<(try reader.readArrayHeader()) {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      try value(&reader, depth: depth + 1, &output)
    }
    output.append(UInt8(ascii: "]"))
  }

  private static func map(
    _ reader: inout MessagePackReader, _ depth: Int, _ output: inout JSONOutput
  ) throws(MessagePackError) {
    guard depth < deepest else { throw MessagePackError(.tooDeep, at: reader.position) }
    output.append(UInt8(ascii: "{"))
    for index in 0..<(try reader.readMapHeader()) {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      output.text(reader.bytes.extracting(try reader.readStringRange()))
      output.append(UInt8(ascii: ":"))
      try value(&reader, depth: depth + 1, &output)
    }
    output.append(UInt8(ascii: "}"))
  }
}
