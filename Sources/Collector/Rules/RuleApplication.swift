internal import EventCodec
internal import Hashing
internal import Primitives

/// Carries out the rules on payloads. Remembers what is to be done by name, so events without a rule
/// cost one lookup.
struct RuleApplication: Sendable {
  /// Names remembered; beyond it the memory begins anew.
  private static let maximumNames = 1000

  private let rules: PropertyRules
  private var known: [[UInt8]: [PropertyRules.Step]] = [:]

  init(_ rules: PropertyRules) { self.rules = rules }

  /// Rewrites the payload that stands from `start` on in `bytes`.
  mutating func apply(
    _ name: [UInt8], _ bytes: inout [UInt8], from start: Int
  ) throws(MessagePackError) {
    guard !rules.isEmpty else { return }
    let steps = steps(for: name)
    guard !steps.isEmpty else { return }
    var writer = MessagePackWriter()
    var reader = unsafe MessagePackReader(bytes.span.bytes.extracting(start...))
    try rewrite(&reader, steps.map { ($0.path[...], $0.action) }, &writer)
    bytes.replaceSubrange(start..., with: writer.bytes)
  }

  private mutating func steps(for name: [UInt8]) -> [PropertyRules.Step] {
    if let steps = known[name] { return steps }
    let steps = rules.steps(for: name)
    if known.count >= Self.maximumNames { known.removeAll() }
    known[name] = steps
    return steps
  }

  private typealias Pending = (path: ArraySlice<[UInt8]>, action: PropertyRules.Action)

  /// Copies the next value without what is dropped. Events are nested 33 levels deep at most, so this is
  /// as well.
  private func rewrite(
    _ reader: inout MessagePackReader, _ pending: [Pending], _ writer: inout MessagePackWriter
  ) throws(MessagePackError) {
    let start = reader.position
    let type = try reader.peek()
    let isMap = 0x80...0x8F ~= type || type == 0xDE || type == 0xDF
    let isList = 0x90...0x9F ~= type || type == 0xDC || type == 0xDD
    guard isMap || isList, !pending.isEmpty else {
      try reader.skip()
      writer.bytes.append(reader.bytes.extracting(start..<reader.position))
      return
    }
    let count = isMap ? try reader.readMapHeader() : try reader.readArrayHeader()
    let container = isMap ? writer.beginMap() : writer.beginArray()
    var kept = 0
    for index in 0..<count {
      let keyStart = reader.position
      var key = Array(String(index).utf8)
      if isMap { key = reader.bytes.extracting(try reader.readStringRange()).copied() }
      let head = keyStart..<reader.position
      let inner = pending.filter { $0.path.first == key || $0.path.first == [UInt8(ascii: "*")] }
        .map { ($0.path.dropFirst(), $0.action) }
      if inner.contains(where: { $0.0.isEmpty && $0.1 == .drop }) {
        try reader.skip()
        continue
      }
      kept += 1
      writer.bytes.append(reader.bytes.extracting(head))
      if inner.contains(where: { $0.0.isEmpty }) {
        try hash(&reader, &writer)
      } else {
        try rewrite(&reader, inner, &writer)
      }
    }
    writer.end(container, count: kept)
  }

  private func hash(
    _ reader: inout MessagePackReader, _ writer: inout MessagePackWriter
  ) throws(MessagePackError) {
    if try reader.readNilIfPresent() { return writer.writeNil() }
    let start = reader.position
    let type = try reader.peek()
    var text: [UInt8] = []
    if 0xA0...0xBF ~= type || 0xD9...0xDB ~= type {
      text = reader.bytes.extracting(try reader.readStringRange()).copied()
    } else {
      try reader.skip()
      do throws(CodecError) {
        try CanonicalJSON.append(
          value: reader.bytes.extracting(start..<reader.position), to: &text)
      } catch {
        throw MessagePackError(.wrongType, at: start)
      }
    }
    let code = unsafe HMACSHA256.code(key: rules.hashKey, text.span.bytes)
    writer.write(Hex.encode(code))
  }
}
