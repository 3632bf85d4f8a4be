internal import EventModel
internal import Primitives

/// Puts the fields of an event, already MessagePack, in canonical order into a payload, and completes
/// what is missing: type, messageId, timestamp.
struct EnvelopeAssembler {
  private var ids = UUIDv7Generator()
  /// The payload while it is put together; grows to what the longest event needed.
  private var memory: [UInt8] = []
  private var text: [UInt8] = []
  /// The topic of the last event, which the next one mostly has too: checked and allocated once.
  private var last = Topic(name: [], isTrack: false)

  /// - Parameters:
  ///   - source: what the ranges of `fields` are of.
  ///   - name: the name it was sent under; nil when the event itself says it.
  ///   - received: nanoseconds since 1970, used where the event has no time.
  ///   - id: of an event that has none; nil: a new one.
  ///   - supplement: what the one who took the event in knows besides.
  /// - Returns: the topic.
  /// - Throws: `CodecError`, and `output` is as it was.
  mutating func assemble(
    _ fields: EnvelopeFields, _ source: RawSpan, name: RawSpan?, received: Int64,
    id: UUIDv7? = nil, adding supplement: EventSupplement = EventSupplement(),
    into output: inout [UInt8]
  ) throws(CodecError) -> [UInt8] {
    last = try topic(fields, source, name, supplement.kind)
    try checkKinds(fields, source)
    completeMessageId(fields, source, received, id)
    var given = fields.has(.timestamp) ? GivenTime(source.extracting(fields[.timestamp])) : nil
    if supplement.clockOffset != 0 { given?.shift(by: supplement.clockOffset) }
    // All of the source, the keys of known fields, and what is added: id, times, topic.
    let needed =
      source.byteCount + 1024 + (given?.original?.count ?? 0) + supplement.byteCount
    if memory.count < needed { memory = [UInt8](repeating: 0, count: needed) }
    let parts = Parts(
      topic: last, messageId: text, given: given, received: received, supplement: supplement)
    let count = unsafe memory.withUnsafeMutableBytes { memory in
      var payload = unsafe PayloadFields(PackedOutput(memory))
      payload.write(fields, source, parts)
      return payload.count
    }
    unsafe output.append(memory.span.bytes.extracting(0..<count))
    return last.name
  }

  struct Topic {
    var name: [UInt8]
    var isTrack: Bool
  }

  private func topic(
    _ fields: EnvelopeFields, _ source: RawSpan, _ sentUnder: RawSpan?, _ usual: EventKind?
  ) throws(CodecError) -> Topic {
    var isTrack = true
    if !fields.has(.type), let topic = usual?.topic {
      return Topic(name: Array(topic.utf8), isTrack: false)
    }
    if fields.has(.type) {
      guard let type = string(fields[.type], source) else {
        throw CodecError(.type, at: fields.place(.type))
      }
      guard let kind = EventKind(type) else { throw CodecError(.type, at: fields.place(.type)) }
      isTrack = kind == .track
      if !isTrack {
        let topic = [UInt8(ascii: "$")] + type.copied()
        if let sentUnder, unsafe !sentUnder.isEqual(to: topic.span.bytes) {
          throw CodecError(.otherName, at: fields.place(.type))
        }
        return Topic(name: topic, isTrack: false)
      }
    }
    return Topic(name: try eventName(fields, source, sentUnder), isTrack: isTrack)
  }

  private func eventName(
    _ fields: EnvelopeFields, _ source: RawSpan, _ sentUnder: RawSpan?
  ) throws(CodecError) -> [UInt8] {
    let place = fields.place(.event)
    guard let name = fields.has(.event) ? string(fields[.event], source) : sentUnder else {
      throw CodecError(.noEvent, at: place)
    }
    if let sentUnder, !sentUnder.isEqual(to: name) { throw CodecError(.otherName, at: place) }
    if last.isTrack, unsafe name.isEqual(to: last.name.span.bytes) { return last.name }
    do {
      try EventName.validate(name)
    } catch {
      throw CodecError(.eventName, at: place, "\(error)")
    }
    return name.copied()
  }

  private func checkKinds(
    _ fields: EnvelopeFields, _ source: RawSpan
  ) throws(CodecError) {
    try check(.messageId, fields, source) { $0 == .text || $0 == .null }
    try check(.userId, fields, source) { $0 != .container }
    try check(.anonymousId, fields, source) { $0 != .container }
    try check(.properties, fields, source) { $0 == .container || $0 == .null }
    try check(.traits, fields, source) { $0 == .container || $0 == .null }
    try check(.context, fields, source) { $0 == .container || $0 == .null }
    try check(.integrations, fields, source) { $0 == .container || $0 == .null }
  }

  /// Makes an id in `text`, unless there is one: an empty id identifies nothing.
  private mutating func completeMessageId(
    _ fields: EnvelopeFields, _ source: RawSpan, _ received: Int64, _ id: UUIDv7?
  ) {
    text.removeAll(keepingCapacity: true)
    if let given = string(fields[.messageId], source), given.byteCount > 0 { return }
    (id ?? ids.next(at: Timestamp(nanoseconds: received))).appendText(to: &text)
  }

  enum ValueKind {
    case null, text, container, other
  }

  @inline(__always)
  private func check(
    _ field: EnvelopeField, _ fields: EnvelopeFields, _ source: RawSpan,
    _ isGood: (ValueKind) -> Bool
  ) throws(CodecError) {
    guard fields.has(field) else { return }
    let start = fields[field].lowerBound
    let kind: ValueKind =
      switch source.bigEndian(at: start, as: UInt8.self) {
      case 0xC0: .null
      case 0xA0...0xBF, 0xD9...0xDB: .text
      case 0x80...0x8F, 0xDE, 0xDF: .container
      default: .other
      }
    guard isGood(kind) else {
      throw CodecError(.fieldType, at: fields.place(field), "\(field)")
    }
  }

  /// The characters of a text value; nil for another.
  @_lifetime(copy source)
  private func string(_ range: Range<Int>, _ source: RawSpan) -> RawSpan? {
    guard !range.isEmpty else { return nil }
    let skip: Int
    switch source.bigEndian(at: range.lowerBound, as: UInt8.self) {
    case 0xA0...0xBF: skip = 1
    case 0xD9: skip = 2
    case 0xDA: skip = 3
    case 0xDB: skip = 5
    default: return nil
    }
    return source.extracting(range.lowerBound + skip..<range.upperBound)
  }
}
