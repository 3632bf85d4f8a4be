public import EventModel
internal import Primitives

/// What the one who takes an event in knows of it besides its own text.
public struct EventSupplement: Sendable {
  /// The type of an event that does not say one; nil: track.
  public var kind: EventKind?
  /// Nanoseconds since 1970; stands in place of what the event says.
  public var receivedAt: Int64?
  /// Nanoseconds that are added to the event's time, since its clock is wrong by as much.
  public var clockOffset: Int64 = 0
  /// Maps in MessagePack whose members an event gets that it has not itself; empty: none.
  public var context: [UInt8] = []
  public var integrations: [UInt8] = []
  /// A field of its own that an event may carry and that is not kept, as a secret; empty: none.
  public var droppedField: [UInt8] = []

  public init() {}

  var byteCount: Int { context.count + integrations.count }

  /// One map of the members of both; where a key is in both, the first counts.
  static func merged(_ first: RawSpan, _ second: RawSpan) -> [UInt8] {
    var members: [Range<Int>] = []
    var keys: [Range<Int>] = []
    var writer = MessagePackWriter()
    do throws(MessagePackError) {
      try forEachMember(first) { key, whole in
        keys.append(key)
        members.append(whole)
      }
      // Few are compared one by one, which allocates nothing; many would take their product.
      let known = Set(keys.count > 12 ? keys.map { first.extracting($0).copied() } : [])
      var added: [Range<Int>] = []
      try forEachMember(second) { key, whole in
        let key = second.extracting(key)
        let isKnown =
          known.isEmpty
          ? keys.contains { first.extracting($0).isEqual(to: key) } : known.contains(key.copied())
        if !isKnown { added.append(whole) }
      }
      writer.writeMapHeader(members.count + added.count)
      for member in members { writer.bytes.append(first.extracting(member)) }
      for member in added { writer.bytes.append(second.extracting(member)) }
    } catch {
      preconditionFailure("maps that were packed here do not read: \(error)")
    }
    return writer.bytes
  }

  private static func forEachMember(
    _ map: RawSpan, _ body: (_ key: Range<Int>, _ whole: Range<Int>) -> Void
  ) throws(MessagePackError) {
    var reader = MessagePackReader(map)
    for _ in 0..<(try reader.readMapHeader()) {
      let start = reader.position
      let key = try reader.readStringRange()
      try reader.skip()
      body(key, start..<reader.position)
    }
  }
}
