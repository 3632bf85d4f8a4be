internal import EventModel
internal import Primitives

/// Makes a payload of what a plain PUB or PUSH socket sends: `[name][payload]`, of any program.
///
/// The payload is JSON if its first byte is `{`, else MessagePack. It is an envelope if `type` is one of
/// the six types and it also has `properties`, `traits` or `messageId`; otherwise it is the properties.
/// A NUL behind the name, as the live feed writes it, is taken off. A key that stands twice in any map
/// is refused, as in JSON: what it means, two readers would answer differently.
public struct PlainEventReader: Sendable {
  public let limits: CodecLimits
  private var json: JSONEventReader
  private var assembler = EnvelopeAssembler()

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
    return try Self.assemble(
      &assembler, json.packed.fields, json.packed.bytes, name, received, &output)
  }

  private mutating func readPacked(
    _ name: RawSpan, _ payload: RawSpan, _ received: Int64, _ output: inout [UInt8]
  ) throws(CodecError) -> [UInt8] {
    var reader = MessagePackReader(payload)
    var fields = EnvelopeFields()
    var keys = KeySearch(depth: limits.openContainers)
    do throws(MessagePackError) {
      for _ in 0..<(try reader.readMapHeader()) {
        let keyStart = reader.position
        let text = try reader.readStringRange()
        let key = keyStart..<reader.position
        let start = reader.position
        try keys.skip(&reader)
        let known = unsafe payload.extracting(text).withUnsafeBytes {
          unsafe EnvelopeField.named($0)
        }
        guard let known else {
          fields.otherKeys.append(key)
          fields.otherValues.append(start..<reader.position)
          continue
        }
        guard !fields.has(known) else { throw MessagePackError(.duplicateKey, at: keyStart) }
        fields.set(known, start..<reader.position, place: start)
      }
      if let twice = DistinctKeys.repeated(fields.otherKeys[...], in: payload) {
        throw MessagePackError(.duplicateKey, at: twice.lowerBound)
      }
    } catch {
      throw CodecError(error)
    }
    guard reader.isAtEnd else { throw CodecError(.trailing, at: reader.position) }
    return try Self.assemble(&assembler, fields, payload, name, received, &output)
  }

  /// Static, since the fields may be of `json` while the assembler changes.
  private static func assemble(
    _ assembler: inout EnvelopeAssembler, _ fields: EnvelopeFields, _ source: RawSpan,
    _ name: RawSpan, _ received: Int64,
    _ output: inout [UInt8]
  ) throws(CodecError) -> [UInt8] {
    if isEnvelope(fields, source) {
      return try assembler.assemble(
        fields, source, name: name, received: received, into: &output)
    }
    // The whole map is the properties: put under that key, it is an envelope of one field.
    let packed = propertiesMap(fields, source)
    var envelope = EnvelopeFields()
    envelope[.properties] = 0..<packed.count
    return try unsafe assembler.assemble(
      envelope, packed.span.bytes, name: name, received: received, into: &output)
  }

  private static func isEnvelope(_ fields: EnvelopeFields, _ source: RawSpan) -> Bool {
    guard fields.has(.type),
      fields.has(.properties) || fields.has(.traits) || fields.has(.messageId)
    else { return false }
    // The six types are short, so each has one byte of head.
    let type = source.extracting(fields[.type])
    return type.isShortText("track") || type.isShortText("identify") || type.isShortText("page")
      || type.isShortText("screen") || type.isShortText("group") || type.isShortText("alias")
  }

  /// The fields as one map again, in the order in which they stood.
  private static func propertiesMap(_ fields: EnvelopeFields, _ source: RawSpan) -> [UInt8] {
    var members: [(Int, [UInt8])] = []
    for field in EnvelopeField.allCases where fields.has(field) {
      let value = source.extracting(fields[field]).copied()
      members.append((fields[field].lowerBound, field.packedText + value))
    }
    for (key, value) in zip(fields.otherKeys, fields.otherValues) {
      members.append(
        (value.lowerBound, source.extracting(key.lowerBound..<value.upperBound).copied()))
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

extension RawSpan {
  /// Whether this is MessagePack of that text, which has fewer than 32 bytes.
  fileprivate func isShortText(_ text: StaticString) -> Bool {
    let length = text.utf8CodeUnitCount
    guard byteCount == length + 1, bigEndian(at: 0, as: UInt8.self) == 0xA0 | UInt8(length) else {
      return false
    }
    for index in 0..<length {
      let wanted = unsafe text.utf8Start[index]
      if bigEndian(at: index + 1, as: UInt8.self) != wanted { return false }
    }
    return true
  }
}

extension EnvelopeField {
  fileprivate var packedText: [UInt8] {
    var writer = MessagePackWriter()
    writer.write(text)
    return writer.bytes
  }
}
