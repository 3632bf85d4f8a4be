public import EventModel
internal import Primitives

extension EventEnvelope {
  /// Decodes a payload with all its fields.
  ///
  /// Integers in `timestamp`, `receivedAt` and `sentAt` are times; whatever else stands there is kept.
  /// - Throws: `CodecError`: cut off, bytes behind the end, a key twice at any level, nested too deeply.
  public init(payload: RawSpan) throws(CodecError) {
    self.init(.track)
    do throws(MessagePackError) {
      try read(payload)
    } catch {
      throw CodecError(error)
    }
  }

  private mutating func read(_ payload: RawSpan) throws(MessagePackError) {
    var reader = MessagePackReader(payload)
    var keys: [Range<Int>] = []
    for _ in 0..<(try reader.readMapHeader()) {
      let start = reader.position
      keys.append(try reader.readStringRange())
      let key = payload.extracting(keys[keys.count - 1])
      let value = try PropertyValue(from: &reader)
      let field = unsafe key.withUnsafeBytes { unsafe EnvelopeField.named($0) }
      switch field {
      case .type:
        guard let kind = value.stringValue.flatMap(EventKind.init(rawValue:)) else {
          throw MessagePackError(.wrongType, at: start)
        }
        self.kind = kind
      case .timestamp, .receivedAt, .sentAt:
        if let field { self[field] = value.intValue.map { .date(.init(nanoseconds: $0)) } ?? value }
      case let field?:
        self[field] = value
      case nil:
        guard let name = String(validating: key) else {
          throw MessagePackError(.invalidUTF8, at: start)
        }
        others.members.append(.init(name, value))
      }
    }
    if let twice = DistinctKeys.repeated(keys[...], in: payload) {
      throw MessagePackError(.duplicateKey, at: twice.lowerBound)
    }
    guard reader.isAtEnd else { throw MessagePackError(.wrongType, at: reader.position) }
  }

  /// Appends the envelope as a payload. Nothing is completed or checked: see ``PayloadWalker``.
  public func appendPayload(to bytes: inout [UInt8]) {
    var taken: [UInt8] = []
    swap(&taken, &bytes)
    var writer = PropertyWriter(output: MessagePackWriter(appendingTo: taken))
    taken = []
    let map = writer.output.beginMap()
    var count = others.count
    for field in EnvelopeField.allCases {
      guard let value = self[field] else { continue }
      count += 1
      writer.output.write(field.text)
      switch (field, value) {
      case (.timestamp, .date(let time)), (.receivedAt, .date(let time)),
        (.sentAt, .date(let time)):
        writer.output.write(time.nanoseconds)
      default: writer.write(value)
      }
    }
    for member in others.members {
      writer.output.write(member.key)
      writer.write(member.value)
    }
    writer.output.end(map, count: count)
    swap(&bytes, &writer.output.bytes)
  }
}
