internal import EventModel
internal import Primitives

/// What is written besides the fields that were given.
struct Parts {
  var topic: EnvelopeAssembler.Topic
  /// Made for an event without one; else empty.
  var messageId: [UInt8]
  /// The time that was given, if any.
  var given: GivenTime?
  var received: Int64
  var supplement = EventSupplement()
}

/// A payload being written: fields are counted, and the count is set at the end.
struct PayloadFields {
  private var output: PackedOutput
  private var members = 0

  init(_ output: PackedOutput) { self.output = output }

  var count: Int { output.count }

  /// The whole payload, in canonical order.
  mutating func write(_ fields: EnvelopeFields, _ source: RawSpan, _ parts: Parts) {
    let head = output.count
    output.append(0x80)
    if parts.topic.isTrack {
      key(.type)
      output.text("track")
    } else if fields.has(.type) {
      copy(.type, fields, source)
    } else {
      add(.type, Array(parts.topic.name.dropFirst()))
    }
    if parts.topic.isTrack, !fields.has(.event) {
      add(.event, parts.topic.name)
    } else {
      copy(.event, fields, source)
    }
    if parts.messageId.isEmpty {
      copy(.messageId, fields, source)
    } else {
      add(.messageId, parts.messageId)
    }
    copy(.userId, fields, source)
    copy(.anonymousId, fields, source)
    time(fields, source, parts)
    copy(.sentAt, fields, source)
    if let received = parts.supplement.receivedAt {
      key(.receivedAt)
      output.integer(received)
    } else {
      copy(.receivedAt, fields, source)
    }
    copy(.properties, fields, source)
    copy(.traits, fields, source)
    merge(.context, fields, source, parts.supplement.context)
    merge(.integrations, fields, source, parts.supplement.integrations)
    copy(.name, fields, source)
    copy(.category, fields, source)
    copy(.groupId, fields, source)
    copy(.previousId, fields, source)
    let dropped = parts.supplement.droppedField
    for (key, value) in zip(fields.otherKeys, fields.otherValues) {
      if !dropped.isEmpty, isText(source.extracting(key), dropped) { continue }
      members += 1
      output.append(source.extracting(key))
      output.append(source.extracting(value))
    }
    output.close(head: head, members, small: 0x80, wide: 0xDE)
  }

  /// Times by the rules of the envelope: what cannot be read costs the event its time, never its life.
  private mutating func time(_ fields: EnvelopeFields, _ source: RawSpan, _ parts: Parts) {
    key(.timestamp)
    output.integer(parts.given?.time?.nanoseconds ?? parts.received)
    guard let given = parts.given else { return copy(.originalTimestamp, fields, source) }
    if fields.has(.originalTimestamp) {
      copy(.originalTimestamp, fields, source)
    } else if let original = given.original {
      add(.originalTimestamp, original)
    }
    if given.time == nil {
      key(.timestampFlag)
      output.text("unreadable")
    } else {
      copy(.timestampFlag, fields, source)
    }
  }

  /// A map of which the event gives some members and the supplement others; the event's own win.
  private mutating func merge(
    _ field: EnvelopeField, _ fields: EnvelopeFields, _ source: RawSpan, _ added: [UInt8]
  ) {
    let own = fields[field]
    guard !added.isEmpty else { return copy(field, fields, source) }
    key(field)
    guard !own.isEmpty, source.bigEndian(at: own.lowerBound, as: UInt8.self) != 0xC0 else {
      return unsafe output.append(added.span.bytes)
    }
    unsafe output.append(
      EventSupplement.merged(source.extracting(own), added.span.bytes).span.bytes)
  }

  /// Whether a packed key is that text, which has fewer than 32 bytes.
  private func isText(_ key: RawSpan, _ text: [UInt8]) -> Bool {
    guard key.byteCount == text.count + 1 else { return false }
    return unsafe key.extracting(1...).isEqual(to: text.span.bytes)
  }

  private mutating func add(_ field: EnvelopeField, _ utf8: [UInt8]) {
    key(field)
    unsafe output.text(utf8.span.bytes)
  }

  /// A field as it stands in `source`; nothing when it is absent.
  @inline(__always)
  private mutating func copy(_ field: EnvelopeField, _ fields: EnvelopeFields, _ source: RawSpan) {
    let range = fields[field]
    guard !range.isEmpty else { return }
    key(field)
    output.append(source.extracting(range))
  }

  @inline(__always)
  private mutating func key(_ field: EnvelopeField) {
    members += 1
    output.text(field.text)
  }
}
