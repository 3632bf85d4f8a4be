internal import Hashing
internal import Primitives

/// Turns an event's values into the hashes of distinct sets.
struct ValueHasher: Sendable {
  let key: KeyedHash

  /// Nil for what is absent or null: that is no value.
  func hash(
    _ source: SourceTable.Source, of event: Int, in payload: RawSpan, of block: EventBlock
  ) throws(MessagePackError) -> UInt64? {
    switch source {
    case .user: return block.events[event].user
    case .event: return hash(block.names[block.events[event].name].key)
    case .bucket(let field, let rule):
      return hash(try block.label(field, rule, of: event, in: payload))
    case .field(let field):
      let range = block.value(field, of: event)
      guard !range.isEmpty else { return nil }
      let first: UInt8 = payload.bigEndian(at: range.lowerBound)
      if first == 0xC0 { return nil }
      guard 0xCC...0xD3 ~= first else { return key.hash(payload.extracting(range)).high }
      var bytes: [UInt8] = []
      _ = try ValueKey.append(payload, range, to: &bytes)
      return hash(bytes)
    }
  }

  private func hash(_ bytes: [UInt8]) -> UInt64 { unsafe key.hash(bytes.span.bytes).high }
}
