internal import EventModel
internal import Primitives

/// Makes a payload of what a plain PUB or PUSH socket sends: `[name][payload]`, of any program.
///
/// The payload is JSON if its first byte is `{`, else MessagePack. It is an envelope if `type` is one of
/// the six types and it also has `properties`, `traits` or `messageId`; otherwise it is the properties.
/// A NUL behind the name, as the live feed writes it, is taken off.
public struct PlainEventReader: Sendable {
  public let limits: CodecLimits
  private var json: JSONEventReader
  private var assembler = EnvelopeAssembler()
  private var packed: [UInt8] = []

  public init(limits: CodecLimits = CodecLimits()) {
    self.limits = limits
    json = JSONEventReader(limits: limits)
  }

  /// Appends the payload to `output` and returns the topic.
  /// - Throws: `CodecError`, and `output` is as it was.
  public mutating func read(
    name: RawSpan, payload: RawSpan, received: Int64, into output: inout [UInt8]
  ) throws(CodecError) -> [UInt8] {
    guard payload.byteCount <= limits.eventBytes else {
      throw CodecError(
        .tooLarge, at: 0, "\(payload.byteCount) bytes; \(limits.eventBytes) are allowed")
    }
    let hasNUL = name.byteCount > 0 && name.bigEndian(at: name.byteCount - 1, as: UInt8.self) == 0
    let name = name.extracting(0..<name.byteCount - (hasNUL ? 1 : 0))
    do throws(EventNameError) {
      try EventName.validate(topic: name)
    } catch {
      throw CodecError(.eventName, at: 0, "\(error)")
    }
    guard payload.byteCount > 0 else { throw CodecError(.empty, at: 0) }
    let start = output.count
    do throws(CodecError) {
      let topic =
        payload.bigEndian(at: 0, as: UInt8.self) == UInt8(ascii: "{")
        ? try readJSON(name, payload, received, &output)
        : try readPacked(name, payload, received, &output)
      try check(output, from: start, topic)
      return topic
    } catch {
      output.removeSubrange(min(start, output.count)...)
      throw error
    }
  }

  private func check(_ output: [UInt8], from start: Int, _ topic: [UInt8]) throws(CodecError) {
    let bytes = output.count - start
    guard bytes <= limits.eventBytes else {
      throw CodecError(.tooLarge, at: 0, "\(bytes) bytes; \(limits.eventBytes) are allowed")
    }
    // What came as MessagePack was only skipped so far.
    do throws(PayloadError) {
      try unsafe PayloadWalker.check(
        output.span.bytes.extracting(start..<output.count), name: topic.span.bytes,
        maximumDepth: limits.openContainers)
    } catch {
      throw CodecError(error.codecReason, at: error.position)
    }
  }

  private mutating func readJSON(
    _ name: RawSpan, _ payload: RawSpan, _ received: Int64, _ output: inout [UInt8]
  ) throws(CodecError) -> [UInt8] {
    try json.scan(payload)
    let (fields, scratch) = json.scanned
    return try unsafe assemble(fields, scratch.span.bytes, name, received, &output)
  }

  private mutating func readPacked(
    _ name: RawSpan, _ payload: RawSpan, _ received: Int64, _ output: inout [UInt8]
  ) throws(CodecError) -> [UInt8] {
    var reader = MessagePackReader(payload)
    var fields = EnvelopeFields()
    do throws(MessagePackError) {
      for _ in 0..<(try reader.readMapHeader()) {
        let keyStart = reader.position
        let text = try reader.readStringRange()
        let key = keyStart..<reader.position
        let start = reader.position
        try reader.skip()
        let known = unsafe payload.extracting(text).withUnsafeBytes {
          unsafe EnvelopeField.named($0)
        }
        if let known, !fields.has(known) {
          fields[known] = start..<reader.position
          fields.places[known.rawValue] = start
        } else if known == nil, fields.others.count < 10_000 {
          fields.others.append((key, start..<reader.position))
        } else {
          throw MessagePackError(.wrongType, at: keyStart)
        }
      }
    } catch {
      throw CodecError(.syntax, at: error.position, "\(error)")
    }
    guard reader.isAtEnd else { throw CodecError(.trailing, at: reader.position) }
    return try assemble(fields, payload, name, received, &output)
  }

  private mutating func assemble(
    _ fields: EnvelopeFields, _ source: RawSpan, _ name: RawSpan, _ received: Int64,
    _ output: inout [UInt8]
  ) throws(CodecError) -> [UInt8] {
    if isEnvelope(fields, source) {
      return try assembler.assemble(
        fields, source, name: name, received: received, into: &output)
    }
    // The whole map is the properties: put under that key, it is an envelope of one field.
    packed.removeAll(keepingCapacity: true)
    packed.append(contentsOf: propertiesMap(fields, source))
    let packed = packed
    var envelope = EnvelopeFields()
    envelope[.properties] = 0..<packed.count
    return try unsafe assembler.assemble(
      envelope, packed.span.bytes, name: name, received: received, into: &output)
  }

  private func isEnvelope(_ fields: EnvelopeFields, _ source: RawSpan) -> Bool {
    guard fields.has(.type),
      fields.has(.properties) || fields.has(.traits) || fields.has(.messageId)
    else { return false }
    var reader = MessagePackReader(source.extracting(fields[.type]))
    guard let type = try? reader.readString() else { return false }
    return ["track", "identify", "page", "screen", "group", "alias"].contains(type)
  }

  /// The fields as one map again, in the order in which they stood.
  private func propertiesMap(_ fields: EnvelopeFields, _ source: RawSpan) -> [UInt8] {
    var members: [(Int, [UInt8])] = []
    for field in EnvelopeField.allCases where fields.has(field) {
      let value = source.extracting(fields[field]).copied()
      members.append((fields[field].lowerBound, EnvelopeField.keys[field.rawValue] + value))
    }
    for other in fields.others {
      members.append(
        (
          other.value.lowerBound,
          source.extracting(other.key.lowerBound..<other.value.upperBound).copied()
        ))
    }
    members.sort { $0.0 < $1.0 }
    var writer = MessagePackWriter()
    writer.writeMapHeader(members.count)
    for member in members { writer.bytes.append(contentsOf: member.1) }
    return writer.bytes
  }
}

extension PayloadError {
  var codecReason: CodecError.Reason {
    switch reason {
    case .cutOff: .cutOff
    case .notAMap: .notAnObject
    case .noType, .noEvent: .type
    case .otherName: .otherName
    case .keyNotText: .keyNotText
    case .notUTF8: .notUTF8
    case .tooDeep: .tooDeep
    case .notFinite: .numberTooLarge
    case .noJSON: .binary
    case .trailing: .trailing
    }
  }
}
