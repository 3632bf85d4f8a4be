internal import EventCodec
internal import EventModel
internal import Primitives

/// What happens to the properties of events of one name.
struct PropertyPlan: Sendable {
  let rules: [DestinationMapping.PropertyRule]

  /// Everything stays as it is.
  var isIdentity: Bool { rules.isEmpty }

  /// Appends an object (one MessagePack map) as JSON.
  func append(_ map: RawSpan, to output: inout [UInt8]) throws(CodecError) {
    guard !isIdentity else { return try CanonicalJSON.append(value: map, to: &output) }
    output.append(UInt8(ascii: "{"))
    try forEach(in: map) { key, value throws(CodecError) in
      output.key(key)
      try CanonicalJSON.append(value: value, to: &output)
    }
    output.append(UInt8(ascii: "}"))
  }

  /// Calls `body` with the properties that stay, in order, by their new keys. A renamed one takes the
  /// place of another that is called so already.
  func forEach(
    in map: RawSpan, _ body: (_ key: RawSpan, _ value: RawSpan) throws(CodecError) -> Void
  ) throws(CodecError) {
    let taken = isIdentity ? [] : try renamedKeys(in: map)
    try members(of: map) { key, value throws(CodecError) in
      guard !isIdentity else { return try body(key, value) }
      switch fate(of: key) {
      case .dropped: return
      case .renamed(let new): try unsafe body(new.span.bytes, value)
      case .kept:
        if taken.contains(where: { unsafe key.isEqual(to: $0.span.bytes) }) { return }
        try body(key, value)
      }
    }
  }

  private enum Fate {
    case kept
    case dropped
    case renamed([UInt8])
  }

  private func fate(of key: RawSpan) -> Fate {
    var new: [UInt8]?
    for rule in rules {
      let isDropped =
        if let new { unsafe rule.drops(new.span.bytes) } else { rule.drops(key) }
      if isDropped { return .dropped }
      if !rule.rename.isEmpty, let other = rule.rename[new ?? key.copied()] { new = other }
    }
    return new.map { .renamed($0) } ?? .kept
  }

  private func renamedKeys(in map: RawSpan) throws(CodecError) -> [[UInt8]] {
    guard rules.contains(where: { !$0.rename.isEmpty }) else { return [] }
    var keys: [[UInt8]] = []
    try members(of: map) { key, _ in
      if case .renamed(let new) = fate(of: key) { keys.append(new) }
    }
    return keys
  }

  private func members(
    of map: RawSpan, _ body: (RawSpan, RawSpan) throws(CodecError) -> Void
  ) throws(CodecError) {
    guard !map.isEmpty else { return }
    var reader = MessagePackReader(map)
    do throws(MessagePackError) {
      for _ in 0..<(try reader.readMapHeader()) {
        let key = try reader.readStringRange()
        let start = reader.position
        try reader.skip()
        let result = Result { () throws(CodecError) in
          try body(map.extracting(key), map.extracting(start..<reader.position))
        }
        if case .failure(let error) = result {
          throw MessagePackError(.wrongType, at: error.position)
        }
      }
    } catch { throw CodecError(error) }
  }
}

extension DestinationMapping.PropertyRule {
  func drops(_ key: RawSpan) -> Bool {
    (!keep.isEmpty && !keep.match(key)) || drop.match(key)
  }
}
