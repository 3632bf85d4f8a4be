internal import BusProtocol
internal import EventJournal
internal import Primitives

/// Puts journal records together into one BATCH or FETCHED message, by a subscriber's filter.
///
/// Used by the bus thread over the tail in memory, and by the reader thread over segment files: one way
/// of delivering, whatever the source. A batch that matches whole goes out as the bytes that came in;
/// one that matches in part is built anew with distances.
struct DeliveryBuilder {
  /// Bytes at which a message is closed. What became durable together goes out together: past 512 KiB
  /// the gain is gone and the latency is not.
  static let messageBytes = 512 << 10

  let subscriber: [UInt8]
  let limitBytes: Int
  let limitEvents: Int
  /// Events at this offset and after are not wanted.
  let end: UInt64
  private(set) var message: [UInt8] = []
  private(set) var deliveries = 0
  private(set) var eventCount = 0
  private(set) var scannedTo: Position
  private(set) var isFull = false
  /// What was left out because it cannot be read; nil when nothing was.
  private(set) var unreadable: UnreadableBatches?
  private var builder = BatchBuilder()

  init(
    _ header: MessageHeader, subscriber: [UInt8], from start: Position, end: UInt64 = .max,
    limitBytes: Int, limitEvents: Int, expecting bytes: Int = 0
  ) {
    self.subscriber = subscriber
    self.limitBytes = limitBytes
    self.limitEvents = limitEvents
    self.end = end
    scannedTo = start
    message.reserveCapacity(
      DeliveryMessage.headerBytes + min(bytes + 1024, limitBytes + (64 << 10)))
    DeliveryMessage.begin(header, into: &message)
  }

  /// Bytes of the message that holds all of `chunks`. A message waits in the socket's queue with all the
  /// memory it has, so it must not have much more than it needs.
  static func bytes(of chunks: some Sequence<JournalChunk>, atMost limit: Int) -> Int {
    var bytes = 0
    for chunk in chunks {
      bytes += chunk.bytes.count
      if bytes >= limit { return limit }
    }
    return bytes
  }

  /// Scans the records of `chunk` from `scannedTo` on, until the message is full or `end` is reached.
  mutating func add(_ chunk: JournalChunk, filter: inout SubscriptionFilter) {
    guard let first = chunk.index(of: scannedTo.offset) else {
      return scannedTo.offset = max(scannedTo.offset, chunk.offsets.upperBound)
    }
    for index in first..<chunk.records.count {
      let record = chunk.records[index]
      guard record.offset < end else { return isFull = true }
      if deliveries > 0, wouldOverflow(record) { return isFull = true }
      chunk.withBody(of: record) { body in add(record, body, &filter) }
      scannedTo = Position(epoch: record.epoch, offset: record.nextOffset)
      if message.count >= limitBytes || eventCount >= limitEvents { return isFull = true }
    }
    scannedTo.offset = max(scannedTo.offset, chunk.offsets.upperBound)
  }

  private func wouldOverflow(_ record: JournalRecord) -> Bool {
    message.count + record.bodyLength > limitBytes || eventCount + record.count > limitEvents
  }

  private mutating func add(
    _ record: JournalRecord, _ body: RawSpan, _ filter: inout SubscriptionFilter
  ) {
    // Whole batches without addressees need no look inside when everything matches.
    let flags: UInt8 = body.bigEndian(at: 1)
    if filter.matchesAll, flags == 0 {
      return append(record, body, events: record.count)
    }
    let batch: Batch
    do throws(ProtocolError) {
      batch = try Batch(checking: body, knowsNamesDiffer: true)
    } catch {
      // Checked at ingest and by the journal's checksum: only a newer format can come here.
      unreadable = unreadable ?? UnreadableBatches(offset: record.offset, reason: "\(error)")
      unreadable!.events += record.count
      return
    }
    if batch.isAddressed {
      let isAddressee = batch.addresseeRanges(in: body).contains { range in
        unsafe body.extracting(range).isEqual(to: subscriber.span.bytes)
      }
      guard isAddressee else { return }
    }
    let ranges = batch.nameRanges(in: body)
    var wanted = [Bool](repeating: false, count: ranges.count)
    var some = false
    var all = true
    for (index, range) in ranges.enumerated() {
      wanted[index] = filter.matches(body.extracting(range))
      some = some || wanted[index]
      all = all && wanted[index]
    }
    if all {
      append(record, body, events: batch.eventCount)
    } else if some {
      appendPart(record, body, batch, ranges, wanted)
    }
  }

  private mutating func append(_ record: JournalRecord, _ body: RawSpan, events: Int) {
    Delivery(
      epoch: record.epoch, base: record.offset, time: record.time, range: 0..<body.byteCount
    ).encodeHeader(into: &message)
    message.append(body)
    deliveries += 1
    eventCount += events
  }

  private mutating func appendPart(
    _ record: JournalRecord, _ body: RawSpan, _ batch: Batch, _ ranges: [Range<Int>],
    _ wanted: [Bool]
  ) {
    var payloadAt = batch.payloadsStart
    for index in 0..<batch.eventCount {
      let entry = batch.entry(index, in: body, payloadAt: &payloadAt)
      guard wanted[entry.name] else { continue }
      builder.payloads.append(body.extracting(entry.payload))
      builder.append(name: body.extracting(ranges[entry.name]), distance: entry.distance)
    }
    guard builder.eventCount > 0 else { return }
    eventCount += builder.eventCount
    var part: [UInt8] = []
    // What is left for one addressee still says that it was addressed.
    builder.build(into: &part, addressees: batch.isAddressed ? [subscriber] : [])
    Delivery(
      epoch: record.epoch, base: record.offset, time: record.time, range: 0..<part.count
    ).encodeHeader(into: &message)
    message.append(contentsOf: part)
    deliveries += 1
  }

  /// Moves on over offsets that are not there.
  mutating func skip(to offset: UInt64) {
    scannedTo.offset = max(scannedTo.offset, offset)
  }

  /// The message; `flags` go into its header. One that became much smaller than expected is copied, so
  /// that it holds no more memory than it has bytes while it waits to be sent.
  mutating func finish(flags: UInt8 = 0) -> [UInt8] {
    DeliveryMessage.finish(&message, scannedTo: scannedTo, deliveries: deliveries)
    message[3] = flags
    return message.count * 2 < message.capacity ? unsafe message.span.bytes.copied() : message
  }
}

/// Batches of the journal that this program cannot read, and subscribers therefore do not get.
struct UnreadableBatches: Hashable, Sendable {
  /// Of the first one.
  var offset: UInt64
  var reason: String
  var events = 0
}
