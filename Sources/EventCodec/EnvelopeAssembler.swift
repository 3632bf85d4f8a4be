internal import EventModel
internal import Primitives

/// Puts the fields of an event, already MessagePack, in canonical order into a payload, and completes
/// what is missing: type, messageId, timestamp.
struct EnvelopeAssembler {
  private var ids = UUIDv7Generator()
  private var text: [UInt8] = []

  /// - Parameters:
  ///   - source: what the ranges of `fields` are of.
  ///   - name: the name it was sent under; nil when the event itself says it.
  ///   - received: nanoseconds since 1970, used where the event has no time.
  /// - Returns: the topic.
  mutating func assemble(
    _ fields: EnvelopeFields, _ source: RawSpan, name: RawSpan?, received: Int64,
    into output: inout [UInt8]
  ) throws(CodecError) -> [UInt8] {
    let topic = try topic(fields, source, name)
    var writer = PayloadFields(source: output)
    writer.begin()
    if topic.isTrack {
      writer.add(.type, text: "track")
    } else {
      writer.copy(.type, fields[.type], source)
    }
    if topic.isTrack, !fields.has(.event) {
      writer.add(.event, utf8: topic.name)
    } else {
      writer.copy(.event, fields[.event], source)
    }
    try messageId(fields, source, received, &writer)
    for field in [EnvelopeField.userId, .anonymousId] {
      try check(field, fields, source) { $0 != .container }
      writer.copy(field, fields[field], source)
    }
    try time(fields, source, received, &writer)
    for field in [EnvelopeField.sentAt, .receivedAt] { writer.copy(field, fields[field], source) }
    for field in [EnvelopeField.properties, .traits, .context, .integrations] {
      try check(field, fields, source) { $0 == .container || $0 == .null }
      writer.copy(field, fields[field], source)
    }
    for field in [EnvelopeField.name, .category, .groupId, .previousId] {
      writer.copy(field, fields[field], source)
    }
    for other in fields.others { writer.copy(other.key, other.value, source) }
    writer.end()
    output = writer.takeBytes()
    return topic.name
  }

  private struct Topic {
    var name: [UInt8]
    var isTrack: Bool
  }

  private func topic(
    _ fields: EnvelopeFields, _ source: RawSpan, _ sentUnder: RawSpan?
  ) throws(CodecError) -> Topic {
    var isTrack = true
    if fields.has(.type) {
      guard let type = string(fields[.type], source) else {
        throw CodecError(.type, at: fields.places[EnvelopeField.type.rawValue])
      }
      isTrack = unsafe type.isEqual(to: Self.track.span.bytes)
      if !isTrack {
        guard Self.otherTypes.contains(where: { unsafe type.isEqual(to: $0.span.bytes) }) else {
          throw CodecError(.type, at: fields.places[EnvelopeField.type.rawValue])
        }
        let topic = [UInt8(ascii: "$")] + type.copied()
        if let sentUnder, unsafe !sentUnder.isEqual(to: topic.span.bytes) {
          throw CodecError(.otherName, at: fields.places[EnvelopeField.type.rawValue])
        }
        return Topic(name: topic, isTrack: false)
      }
    }
    return Topic(name: try eventName(fields, source, sentUnder), isTrack: isTrack)
  }

  private func eventName(
    _ fields: EnvelopeFields, _ source: RawSpan, _ sentUnder: RawSpan?
  ) throws(CodecError) -> [UInt8] {
    let place = fields.places[EnvelopeField.event.rawValue]
    guard let name = fields.has(.event) ? string(fields[.event], source) : sentUnder else {
      throw CodecError(.noEvent, at: place)
    }
    if let sentUnder, !sentUnder.isEqual(to: name) { throw CodecError(.otherName, at: place) }
    do {
      try EventName.validate(name)
    } catch {
      throw CodecError(.eventName, at: place, "\(error)")
    }
    return name.copied()
  }

  private static let track = Array("track".utf8)
  private static let otherTypes: [[UInt8]] = ["identify", "page", "screen", "group", "alias"]
    .map { Array($0.utf8) }

  /// The one given, if it is text and not empty: an empty id identifies nothing.
  private mutating func messageId(
    _ fields: EnvelopeFields, _ source: RawSpan, _ received: Int64, _ writer: inout PayloadFields
  ) throws(CodecError) {
    try check(.messageId, fields, source) { $0 == .text || $0 == .null }
    if let given = string(fields[.messageId], source), given.byteCount > 0 {
      return writer.copy(.messageId, fields[.messageId], source)
    }
    text.removeAll(keepingCapacity: true)
    ids.next(at: Timestamp(nanoseconds: received)).appendText(to: &text)
    writer.add(.messageId, utf8: text)
  }

  /// Times by the rules of the envelope: what cannot be read costs the event its time, never its life.
  private func time(
    _ fields: EnvelopeFields, _ source: RawSpan, _ received: Int64, _ writer: inout PayloadFields
  ) throws(CodecError) {
    guard fields.has(.timestamp) else {
      writer.add(.timestamp, integer: received)
      writer.copy(.originalTimestamp, fields[.originalTimestamp], source)
      return
    }
    let range = fields[.timestamp]
    let given = GivenTime(source.extracting(range))
    writer.add(.timestamp, integer: given.time?.nanoseconds ?? received)
    if fields.has(.originalTimestamp) {
      writer.copy(.originalTimestamp, fields[.originalTimestamp], source)
    } else if let original = given.original {
      writer.add(.originalTimestamp, utf8: original)
    }
    if given.time == nil {
      writer.add(.timestampFlag, text: "unreadable")
    } else {
      writer.copy(.timestampFlag, fields[.timestampFlag], source)
    }
  }

  enum ValueKind {
    case null, text, container, other
  }

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
      throw CodecError(.fieldType, at: fields.places[field.rawValue], "\(field)")
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

/// A payload being written: fields are counted, and the count is set at the end.
struct PayloadFields {
  private var writer: MessagePackWriter
  private var map: MessagePackWriter.OpenContainer?
  private var count = 0

  init(source output: consuming [UInt8]) { writer = MessagePackWriter(appendingTo: output) }

  mutating func begin() { map = writer.beginMap() }

  mutating func add(_ field: EnvelopeField, text: StaticString) {
    key(field)
    writer.write(text)
  }

  mutating func add(_ field: EnvelopeField, utf8: [UInt8]) {
    key(field)
    unsafe writer.writeString(utf8: utf8.span.bytes)
  }

  mutating func add(_ field: EnvelopeField, integer: Int64) {
    key(field)
    writer.write(integer)
  }

  /// A field as it stands in `source`; nothing when it is absent.
  mutating func copy(_ field: EnvelopeField, _ range: Range<Int>, _ source: RawSpan) {
    guard !range.isEmpty else { return }
    key(field)
    writer.bytes.append(source.extracting(range))
  }

  mutating func copy(_ key: Range<Int>, _ value: Range<Int>, _ source: RawSpan) {
    count += 1
    writer.bytes.append(source.extracting(key))
    writer.bytes.append(source.extracting(value))
  }

  private mutating func key(_ field: EnvelopeField) {
    count += 1
    writer.bytes.append(contentsOf: EnvelopeField.keys[field.rawValue])
  }

  mutating func end() {
    if let map { writer.end(map, count: count) }
  }

  mutating func takeBytes() -> [UInt8] {
    var taken: [UInt8] = []
    swap(&taken, &writer.bytes)
    return taken
  }
}
