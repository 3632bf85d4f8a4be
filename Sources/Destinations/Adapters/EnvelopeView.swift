internal import EventCodec
internal import EventModel
internal import Primitives

/// Where the fields of one payload stand. Borrows the bytes and cannot be kept; about 0.1 µs.
struct EnvelopeView: ~Escapable {
  let payload: RawSpan
  /// By `EnvelopeField.rawValue`; empty ranges are absent fields.
  private var known: InlineArray<18, Range<Int>> = .init(repeating: 0..<0)
  /// Fields that the envelope does not know, in their order.
  private(set) var others: [(key: Range<Int>, value: Range<Int>)] = []
  let kind: EventKind

  /// - Throws: when the payload is damaged, or no event.
  @_lifetime(copy payload)
  init(_ payload: RawSpan) throws(MessagePackError) {
    self.payload = payload
    var reader = MessagePackReader(payload)
    var kind: EventKind?
    for _ in 0..<(try reader.readMapHeader()) {
      let key = try reader.readStringRange()
      let start = reader.position
      let field = EnvelopeField.named(payload.extracting(key))
      if field == .type {
        kind = EventKind(try reader.readStringSpan())
      } else {
        try reader.skip()
      }
      if let field {
        known[field.rawValue] = start..<reader.position
      } else {
        others.append((key, start..<reader.position))
      }
    }
    guard let kind else { throw MessagePackError(.wrongType, at: 0) }
    self.kind = kind
  }

  func has(_ field: EnvelopeField) -> Bool { !known[field.rawValue].isEmpty }

  /// The bytes of a field's value; empty when it is absent.
  @_lifetime(copy self)
  func value(_ field: EnvelopeField) -> RawSpan { payload.extracting(known[field.rawValue]) }

  /// The UTF-8 of a text; empty when the field is absent, no text, or an empty one.
  @_lifetime(copy self)
  func text(_ field: EnvelopeField) -> RawSpan {
    let range = known[field.rawValue]
    let type = range.isEmpty ? 0 : payload.bigEndian(at: range.lowerBound, as: UInt8.self)
    // The value's length was checked when it was passed over.
    let head =
      switch type {
      case 0xA0...0xBF: 1
      case 0xD9: 2
      case 0xDA: 3
      case 0xDB: 5
      default: range.count
      }
    return payload.extracting(range.lowerBound + head..<range.upperBound)
  }

  /// A text, or a whole number written as one; nil when there is neither, or an empty text.
  func id(_ field: EnvelopeField) throws(MessagePackError) -> [UInt8]? {
    let text = text(field)
    if !text.isEmpty { return text.copied() }
    let range = known[field.rawValue]
    guard !range.isEmpty else { return nil }
    var reader = MessagePackReader(payload, at: range.lowerBound)
    switch try reader.peek() {
    case 0xCF: return Array("\(try reader.readUInt())".utf8)
    case 0x00...0x7F, 0xE0...0xFF, 0xCC...0xD3: return Array("\(try reader.readInt())".utf8)
    default: return nil
    }
  }

  func timestamp() throws(MessagePackError) -> Timestamp {
    var reader = MessagePackReader(payload, at: known[EnvelopeField.timestamp.rawValue].lowerBound)
    guard has(.timestamp) else { throw MessagePackError(.wrongType, at: 0) }
    return Timestamp(nanoseconds: try reader.readInt())
  }

  /// The object of a field; nil when it is absent or something else.
  func object(_ field: EnvelopeField) throws(MessagePackError) -> PropertyObject? {
    guard has(field) else { return nil }
    var reader = MessagePackReader(payload, at: known[field.rawValue].lowerBound)
    return try PropertyValue(from: &reader).objectValue
  }
}
