public import EventModel
public import Primitives

/// Makes payloads of typed events. The layout is at the head of EnvelopeField.swift.
///
/// Holds the bytes of the events until they are taken, so one encoder makes a whole batch without
/// copying. Not thread-safe: one owner, as a struct is. About 0.2 µs an event written by hand.
public struct EventEncoder: Sendable {
  public let limits: CodecLimits
  private var writer: PropertyWriter
  private var ids: UUIDv7Generator
  private var prefix = EventPrefix()

  public init(limits: CodecLimits = CodecLimits(), ids: UUIDv7Generator = UUIDv7Generator()) {
    self.limits = limits
    self.ids = ids
    writer = PropertyWriter()
  }

  /// The payloads so far, one after another.
  public var bytes: [UInt8] {
    get { writer.output.bytes }
    _modify { yield &writer.output.bytes }
  }

  /// Doubles that JSON has no text for, stored as null so far.
  public var nonFiniteCount: Int { writer.nonFiniteCount }

  /// Forgets the payloads and keeps their memory.
  public mutating func removeAll() { writer.output.removeAll() }

  /// Appends the payload of `event` and returns its range in `bytes`.
  ///
  /// - Parameters:
  ///   - common: properties that each event gets; the event's own value of a key wins.
  ///   - context: the event's context, a map in MessagePack; empty for none.
  /// - Throws: `EventEncodingError` for a name that cannot be used, an event that is too large or nested
  ///   too deeply, and what the event's own code throws. Nothing was appended then.
  public mutating func append(
    _ event: some PublishableEvent, identity: EventIdentity, time: Timestamp,
    common: PropertyObject? = nil, context: [UInt8] = []
  ) throws(EventEncodingError) -> Range<Int> {
    let start = writer.output.bytes.count
    do throws(EventEncodingError) {
      try write(event, identity, time, common, context)
      let range = start..<writer.output.bytes.count
      try check(range)
      return range
    } catch {
      writer.output.bytes.removeSubrange(start...)
      throw error
    }
  }

  private mutating func write(
    _ event: some PublishableEvent, _ identity: EventIdentity, _ time: Timestamp,
    _ common: PropertyObject?, _ context: [UInt8]
  ) throws(EventEncodingError) {
    try prefix.prepare(event.eventType)
    let head = writer.output.bytes.count
    writer.hasContainers = false
    writer.output.bytes += prefix.bytes
    var fields = 4
    ids.next(at: time).appendText(to: &writer.output.bytes)
    if let userId = identity.userId {
      writer.output.write("userId", userId)
      fields += 1
    }
    if !identity.anonymousId.isEmpty {
      writer.output.write("anonymousId", identity.anonymousId)
      fields += 1
    }
    writer.output.write("timestamp" as StaticString)
    writer.output.write(time.nanoseconds)
    if try writeProperties(event, common) { fields += 1 }
    if !context.isEmpty {
      writer.output.write("context" as StaticString)
      writer.output.bytes += context
      fields += 1
    }
    // Eight at most, so the head keeps its one byte.
    writer.output.bytes[head] |= UInt8(fields)
  }

  /// Returns whether the event has properties.
  private mutating func writeProperties(
    _ event: some PublishableEvent, _ common: PropertyObject?
  ) throws(EventEncodingError) -> Bool {
    let before = writer.output.bytes.count
    writer.output.write("properties" as StaticString)
    let map = writer.output.beginMap()
    writer.count = 0
    writer.isPresent = false
    try event.encodeProperties(into: &writer)
    if let common {
      let own = writer.output.bytes.count
      for member in common.members where !holds(member.key, from: before, to: own) {
        writer.write(member.key, member.value)
      }
    }
    guard writer.count > 0 || writer.isPresent else {
      writer.output.bytes.removeSubrange(before...)
      return false
    }
    writer.output.end(map, count: writer.count)
    return true
  }

  /// Whether the properties written between two places have this key at their outermost level.
  private func holds(_ key: String, from start: Int, to end: Int) -> Bool {
    // Behind the key "properties" (11 bytes) and the map's head, which does not hold its count yet.
    let first = start + 12
    let bytes = unsafe writer.output.bytes.span.bytes
    var reader = MessagePackReader(bytes, at: first)
    do throws(MessagePackError) {
      while reader.position < end {
        let range = try reader.readStringRange()
        if range.count == key.utf8.count, writer.output.bytes[range].elementsEqual(key.utf8) {
          return true
        }
        try reader.skip()
      }
    } catch {
      preconditionFailure("properties just written do not read back: \(error)")
    }
    return false
  }

  /// What the broker would refuse is refused here, where the program sees it. Lengths, texts and
  /// numbers are right by construction, so only size and depth are left.
  private func check(_ range: Range<Int>) throws(EventEncodingError) {
    guard range.count <= limits.eventBytes else {
      throw EventEncodingError("\(range.count) bytes; \(limits.eventBytes) are allowed")
    }
    guard writer.hasContainers else { return }
    do throws(PayloadError) {
      try unsafe PayloadWalker.check(
        writer.output.bytes.span.bytes.extracting(range), name: prefix.name.span.bytes,
        maximumDepth: limits.openContainers)
    } catch {
      throw EventEncodingError("\(error)")
    }
  }
}
