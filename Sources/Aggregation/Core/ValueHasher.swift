internal import Hashing
internal import Primitives

/// Turns an event's values into the keys of groups and the hashes of distinct sets.
struct ValueHasher: Sendable {
  let key: KeyedHash

  /// Nil for what is absent or null: that is no value.
  func hash(
    _ source: ReportPlan.Source, _ event: borrowing EventView, _ buckets: [ReportPlan.Bucket]
  ) throws(MessagePackError) -> UInt64? {
    switch source {
    case .user: return event.user
    case .event: return unsafe key.hash(event.nameKey.span.bytes).high
    case .field(let field):
      let range = event.values[field]
      guard !range.isEmpty else { return nil }
      let first: UInt8 = event.payload.bigEndian(at: range.lowerBound)
      if first == 0xC0 { return nil }
      guard 0xCC...0xD3 ~= first else { return key.hash(event.payload.extracting(range)).high }
      var bytes: [UInt8] = []
      _ = try ValueKey.append(event.payload, range, to: &bytes)
      return unsafe key.hash(bytes.span.bytes).high
    case .bucket:
      var bytes: [UInt8] = []
      _ = try Self.append(source, event, buckets, to: &bytes)
      return unsafe key.hash(bytes.span.bytes).high
    }
  }

  /// Appends a group's key; false when the value is too long to be one.
  @inline(__always)
  static func append(
    _ source: ReportPlan.Source, _ event: borrowing EventView, _ buckets: [ReportPlan.Bucket],
    to key: inout [UInt8]
  ) throws(MessagePackError) -> Bool {
    switch source {
    case .event: key += event.nameKey
    case .user:
      // Sinks keep no id in plain, so a breakdown by user shows hashes.
      guard let user = event.user else {
        key += ValueKey.null
        return true
      }
      key += ValueKey.text(Array(Hex.encode(Self.bytes(user)).utf8))
    case .field(let field):
      return try ValueKey.append(event.payload, event.values[field], to: &key)
    case .bucket(let field, let rule):
      guard let number = try FieldValue.number(event.payload, event.values[field]) else {
        key += ValueKey.null
        return true
      }
      let bucket = buckets[rule]
      key += bucket.keys[bucket.rule.index(of: number.asDouble)]
    }
    return true
  }

  private static func bytes(_ hash: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendBigEndian(hash)
    return bytes
  }
}
