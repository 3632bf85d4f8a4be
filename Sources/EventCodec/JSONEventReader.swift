internal import EventModel
public import Primitives

/// Makes a payload of one event given as JSON.
///
/// Holds buffers that it reuses, so keep one a stream; not thread-safe. An event of 200 bytes takes
/// less than a microsecond.
public struct JSONEventReader: Sendable {
  public let limits: CodecLimits
  private var assembler = EnvelopeAssembler()
  private(set) var packed = PackedJSON()

  public init(limits: CodecLimits = CodecLimits()) { self.limits = limits }

  /// Reads one event and appends its payload to `output`; returns the topic it travels under.
  ///
  /// - Parameters:
  ///   - text: one JSON object, blanks around it allowed.
  ///   - received: nanoseconds since 1970: the time of an event that has none, or none that can be read.
  ///   - id: the `messageId` of an event that has none; nil: a new one. For input that is read again and
  ///     must then be the same.
  ///   - supplement: what the one who takes the event in knows besides.
  /// - Throws: `CodecError`, and `output` is as it was.
  public mutating func read(
    _ text: RawSpan, received: Int64, id: UUIDv7? = nil,
    adding supplement: EventSupplement = EventSupplement(), into output: inout [UInt8]
  ) throws(CodecError) -> [UInt8] {
    guard text.byteCount <= limits.eventBytes else {
      throw CodecError(
        .tooLarge, at: 0, "\(text.byteCount) bytes; \(limits.eventBytes) are allowed")
    }
    try scan(text)
    let start = output.count
    let topic = try assembler.assemble(
      packed.fields, packed.bytes, name: nil, received: received, id: id, adding: supplement,
      into: &output)
    guard output.count - start <= limits.eventBytes else {
      let bytes = output.count - start
      output.removeSubrange(start...)
      throw CodecError(.tooLarge, at: 0, "\(bytes) bytes; \(limits.eventBytes) are allowed")
    }
    return topic
  }

  /// Turns the whole object into MessagePack values in `packed`, and notes where each field is.
  mutating func scan(_ text: RawSpan) throws(CodecError) {
    try packed.scan(text, depth: limits.openContainers)
  }
}

/// The last event that was scanned, and memory for the next.
struct PackedJSON {
  private(set) var fields = EnvelopeFields()
  /// Values as MessagePack in its first bytes; grows to what the longest event needed.
  private var memory: [UInt8] = []
  private var keys: [Range<Int>] = []
  private var count = 0

  var bytes: RawSpan {
    @_lifetime(borrow self)
    get { unsafe memory.span.bytes.extracting(0..<count) }
  }

  mutating func scan(_ text: RawSpan, depth: Int) throws(CodecError) {
    fields.removeAll()
    count = 0
    let needed = PackedOutput.capacity(forJSON: text.byteCount)
    if memory.count < needed { memory = [UInt8](repeating: 0, count: needed) }
    count = try Self.scan(text, depth, &memory, &keys, &fields)
  }

  private static func scan(
    _ text: RawSpan, _ depth: Int, _ memory: inout [UInt8], _ keys: inout [Range<Int>],
    _ fields: inout EnvelopeFields
  ) throws(CodecError) -> Int {
    // The array's own closure knows no typed errors.
    try unsafe memory.withUnsafeMutableBytes { memory in
      Result { () throws(CodecError) -> Int in
        try unsafe text.withUnsafeBytes { bytes throws(CodecError) in
          var taken: [Range<Int>] = []
          swap(&taken, &keys)
          taken.removeAll(keepingCapacity: true)
          var scanner = unsafe JSONScanner(bytes, output: memory, keys: taken)
          taken = []
          try scanner.envelope(&fields, depth: depth)
          keys = scanner.takeKeys()
          return scanner.output.count
        }
      }
    }.get()
  }
}

extension JSONScanner {
  /// The top-level object, its fields noted by name.
  mutating func envelope(_ fields: inout EnvelopeFields, depth: Int) throws(CodecError) {
    skipBlanks()
    guard at < count else { throw error(.empty) }
    guard byte(at) == UInt8(ascii: "{") else { throw error(startsValue ? .notAnObject : .syntax) }
    at += 1
    if try peek() == UInt8(ascii: "}") {
      at += 1
    } else {
      while true {
        try field(&fields, depth: depth)
        let next = try peek()
        at += 1
        if next == UInt8(ascii: ",") { continue }
        guard next == UInt8(ascii: "}") else { throw error(.syntax, at: at - 1) }
        break
      }
    }
    skipBlanks()
    guard at == count else { throw error(.trailing) }
  }

  private var startsValue: Bool {
    switch byte(at) {
    case UInt8(ascii: "\""), UInt8(ascii: "["), UInt8(ascii: "t"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  private mutating func field(_ fields: inout EnvelopeFields, depth: Int) throws(CodecError) {
    guard try peek() == UInt8(ascii: "\"") else { throw error(.syntax) }
    let keyAt = at
    let keyStart = output.count
    let length = try text()
    // The whole text, its head included.
    let key = keyStart..<output.count
    let known = unsafe output.withWritten { bytes in
      unsafe EnvelopeField.named(
        UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - length)...]))
    }
    try expect(":")
    skipBlanks()
    let place = at
    let start = output.count
    try value(depth: depth)
    let range = start..<output.count
    if let known {
      guard !fields.has(known) else { throw error(.duplicateKey, at: keyAt) }
      fields.set(known, range, place: place)
    } else {
      let isKnown = fields.otherKeys.contains { output.isSame($0, key) }
      guard !isKnown else { throw error(.duplicateKey, at: keyAt) }
      guard fields.otherKeys.count < 1000 else {
        throw CodecError(.tooLarge, at: keyAt, "more than 1000 fields of its own")
      }
      fields.otherKeys.append(key)
      fields.otherValues.append(range)
    }
  }
}
