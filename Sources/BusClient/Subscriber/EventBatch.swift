public import BusProtocol
internal import Primitives

/// Events as they were delivered together, in journal order, over bytes held once.
///
/// Copying it copies no event. It may hold no event at all: then it only says how far the broker looked
/// (`end`), so that a cursor passes what the filters leave out.
public struct EventBatch: Sendable {
  let bytes: [UInt8]
  let parts: [Part]
  /// The next cursor once all of these events are handled.
  public let end: Position
  /// What is missing directly before this batch.
  public internal(set) var gap: SubscriberGap?
  /// An operator moved the cursor, and this is the first batch from its new place on.
  public internal(set) var seek: Seek?
  /// How many events it holds.
  public let count: Int
  /// Events of the message, those left out included, as credit counts them.
  let creditEvents: Int
  /// Bytes of the message it came in, as credit counts them.
  var messageBytes: Int { bytes.count }

  struct Part: Sendable {
    let batch: Batch
    let epoch: UInt32
    let base: UInt64
    let time: Int64
    let range: Range<Int>
    let names: [Range<Int>]
    /// The first event that counts: those before it were wanted by nobody or given out already.
    let first: Int
  }

  public var isEmpty: Bool { count == 0 }

  public struct Seek: Hashable, Sendable {
    public var to: Position
    /// What a sink stores with its cursor, for `SubscriberConfiguration.seekGeneration`.
    public var generation: UInt64
  }

  /// Reads a BATCH or FETCHED message, leaving out what lies below `from`.
  init(_ message: RawSpan, from: Position) throws(ProtocolError) {
    let delivery = try DeliveryMessage(decoding: message)
    var parts: [Part] = []
    parts.reserveCapacity(delivery.deliveries.count)
    var count = 0
    var sent = 0
    for item in delivery.deliveries {
      let span = message.extracting(item.range)
      let batch = try Batch(checking: span)
      sent += batch.eventCount
      let first = Self.first(batch, span, item, from: from)
      guard first < batch.eventCount else { continue }
      count += batch.eventCount - first
      parts.append(
        Part(
          batch: batch, epoch: item.epoch, base: item.base, time: item.time, range: item.range,
          names: batch.nameRanges(in: span).map {
            $0.lowerBound + item.range.lowerBound..<$0.upperBound + item.range.lowerBound
          }, first: first))
    }
    self.parts = parts
    self.count = count
    creditEvents = sent
    bytes = message.copied()
    end = max(delivery.scannedTo, from)
  }

  private static func first(
    _ batch: Batch, _ span: RawSpan, _ item: Delivery, from: Position
  ) -> Int {
    guard item.epoch <= from.epoch else { return 0 }
    guard item.epoch == from.epoch else { return batch.eventCount }
    guard item.base < from.offset else { return 0 }
    let distance = from.offset - item.base
    guard distance <= UInt64(batch.lastDistance) else { return batch.eventCount }
    guard batch.hasDistances else { return Int(distance) }
    var at = batch.payloadsStart
    for index in 0..<batch.eventCount
    where batch.entry(index, in: span, payloadAt: &at).distance >= distance { return index }
    return batch.eventCount
  }

  /// Says only that everything before `end` was looked at.
  init(end: Position) {
    bytes = []
    parts = []
    count = 0
    creditEvents = 0
    self.end = end
  }

  /// Where and when the broker took an event.
  public struct Place: Hashable, Sendable {
    public let offset: UInt64
    public let epoch: UInt32
    /// Journal time, nanoseconds since 1970.
    public let time: Int64
    /// Which delivered part of the batch it belongs to, and its name's place in that part's table:
    /// equal for equal names of one part, so that a reader looks up each name once.
    public let part: Int
    public let name: Int
    /// Whether the event was published to named subscribers only, as a replay or an import is: everybody
    /// else was passed over, so whoever counts for everybody leaves it out or keeps it apart.
    public let isAddressed: Bool

    public var position: Position { Position(epoch: epoch, offset: offset) }
  }

  /// Calls `body` with place, name and payload of each event, in order. The payload is one MessagePack
  /// map, the envelope; both spans lie where they arrived: nothing is allocated or copied.
  public func forEach<E: Error>(
    _ body: (Place, _ name: RawSpan, _ payload: RawSpan) throws(E) -> Void
  ) throws(E) {
    let all = unsafe bytes.span.bytes
    for number in parts.indices {
      let part = parts[number]
      let span = all.extracting(part.range)
      var at = part.batch.payloadsStart
      for index in 0..<part.batch.eventCount {
        let entry = part.batch.entry(index, in: span, payloadAt: &at)
        guard index >= part.first else { continue }
        try body(
          Place(
            offset: part.base + UInt64(entry.distance), epoch: part.epoch, time: part.time,
            part: number, name: entry.name, isAddressed: part.batch.isAddressed),
          all.extracting(part.names[entry.name]), span.extracting(entry.payload))
      }
    }
  }

  /// The events with bytes of their own: two allocations an event.
  public var events: [ReceivedEvent] {
    var events: [ReceivedEvent] = []
    events.reserveCapacity(count)
    forEach { place, name, payload in
      events.append(
        ReceivedEvent(
          name: text(name), payload: payload.copied(), offset: place.offset, epoch: place.epoch,
          time: place.time, isAddressed: place.isAddressed))
    }
    return events
  }
}

/// Names are UTF-8; the broker checked them.
func text(_ bytes: RawSpan) -> String {
  unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
}

/// One event with its own bytes.
public struct ReceivedEvent: Hashable, Sendable {
  public var name: String
  public var payload: [UInt8]
  public var offset: UInt64
  public var epoch: UInt32
  /// Journal time, nanoseconds since 1970.
  public var time: Int64
  /// Published to named subscribers only.
  public var isAddressed = false

  public var position: Position { Position(epoch: epoch, offset: offset) }
}
