internal import Primitives

/// The journal's decisions: which offset, which group, which segment, what is durable. It does no I/O.
///
/// Owned by one thread, the one that receives. A turn of it:
/// ```
/// let offset = core.append(body, count: 10, producer: id, sequence: 7, time: now)
/// if core.groupIsFull || twoMillisecondsPassed, let group = core.takeGroup(snapshot: tables) {
///   writerThread.post(group)                 // JournalWriter.write(group), in this order
/// }
/// core.complete(group)                       // when the writer says it is done: durableHead moves
/// ```
/// At most a few groups are between `takeGroup` and `complete`; bounding them is the caller's part.
public struct JournalCore: Sendable {
  public let configuration: JournalConfiguration
  /// The next offset to be given.
  public private(set) var head: UInt64
  /// Everything below may be acknowledged and shown: its group is complete.
  public private(set) var durableHead: UInt64
  /// All epochs, oldest first, the present one last.
  public private(set) var epochs: [JournalEpoch]
  /// Journal time of the newest record; never decreases.
  public private(set) var lastTime: Int64

  private var segment: UInt64
  /// Bytes of the current segment file with everything appended: where the next record goes.
  private var filePosition: Int
  /// Where its records begin: its head and snapshot do not count for its size.
  private var recordsPosition: Int
  private var segmentOffset: UInt64
  private var pendingSegment: SegmentHeader?
  private var pendingSnapshot: [UInt8] = []
  /// What is on the disk, which under `os` and `none` is less than `durableHead`.
  private var syncedHead: UInt64
  private var stamped: UInt64
  private var hasClosed = false
  private var endsSegment = false

  private var bytes: [UInt8] = []
  private var records: [JournalRecord] = []
  private var groupOffset: UInt64
  private var groupPosition: Int
  private var groupTime: Int64 = 0

  /// Where a session begins, as recovery found it.
  struct Start {
    var head: UInt64
    var epochs: [JournalEpoch]
    var lastTime: Int64
    var segment: UInt64
    var segmentOffset: UInt64
    var filePosition: Int
    var recordsPosition: Int
  }

  init(configuration: JournalConfiguration, start: Start) {
    self.configuration = configuration
    head = start.head
    durableHead = start.head
    epochs = start.epochs
    lastTime = start.lastTime
    segment = start.segment
    segmentOffset = start.segmentOffset
    filePosition = start.filePosition
    recordsPosition = start.recordsPosition
    syncedHead = start.head
    stamped = start.head
    groupOffset = start.head
    groupPosition = start.filePosition
  }

  public var epoch: UInt32 { epochs.last?.number ?? 0 }
  /// Bytes appended and not yet taken.
  public var pendingBytes: Int { bytes.count }
  public var hasPendingRecords: Bool { !bytes.isEmpty }
  public var groupIsFull: Bool { bytes.count >= configuration.groupBytes }

  /// Whether a body of so many bytes would make the group's buffer move, to twice its size: take the
  /// group first.
  public func wouldOverflow(bodyBytes: Int) -> Bool {
    hasPendingRecords && bytes.count + RecordHeader.byteCount + bodyBytes > bufferBytes
  }

  /// Appends a batch of `count` events and returns the offset of the first: one copy of the body.
  ///
  /// `count` is at least 1, the body at most ``RecordHeader/maximumBodyBytes``: both are ours to keep.
  /// A `time` before the last record's becomes the last record's.
  @discardableResult
  public mutating func append(
    _ body: RawSpan, count: Int, producer: JournalProducer = .none, sequence: UInt64 = 0,
    time: Int64
  ) -> UInt64 {
    append(count: count, producer: producer, sequence: sequence, time: time) { bytes in
      bytes.append(body)
    }
  }

  /// The same for a body that is put together from parts: `write` appends it, and changes nothing
  /// that is there already.
  @discardableResult
  public mutating func append(
    count: Int, producer: JournalProducer = .none, sequence: UInt64 = 0, time: Int64,
    _ write: (inout [UInt8]) -> Void
  ) -> UInt64 {
    precondition(count > 0 && count <= Int(UInt32.max), "a batch of \(count) events")
    let start = begin(.batch, count: count, producer: producer, sequence: sequence, time: time)
    write(&bytes)
    finish(from: start)
    let body = start + RecordHeader.byteCount
    records.append(
      JournalRecord(
        offset: head, count: count, epoch: epoch, time: lastTime, bodyPosition: body,
        bodyLength: bytes.count - body, producer: producer, sequence: sequence))
    defer { head += UInt64(count) }
    return head
  }

  /// Whether the disk holds more than the last record says it does: after some idle time (a second,
  /// say) it is worth a mark, so that later damage is told from an unsynced tail.
  public var needsIdleMark: Bool { !hasPendingRecords && stamped < syncedHead && !hasClosed }

  /// Appends a mark that records how far the disk is. Take and write the group as any other.
  public mutating func appendIdleMark(time: Int64) {
    let start = begin(.mark, time: time)
    finish(from: start)
  }

  /// The last group of a session: with it on the disk the next open knows that nothing is missing.
  /// Every group before must be complete.
  public mutating func takeClosingGroup(time: Int64) -> JournalGroup {
    precondition(durableHead == head && !hasPendingRecords, "a group is still on its way")
    // The writer syncs what is before, and only then writes this.
    syncedHead = head
    hasClosed = true
    let start = begin(.mark, flags: .closed, time: time)
    finish(from: start)
    return makeGroup(closes: true)
  }

  /// Closes the group and returns it; nil when nothing was appended.
  ///
  /// When the segment is full, the next group begins a new one: `snapshot` then gives the caller's
  /// tables as they are with everything appended so far, at most one call in `segmentBytes`.
  public mutating func takeGroup(snapshot: () -> [UInt8]) -> JournalGroup? {
    guard hasPendingRecords else { return nil }
    let group = makeGroup(closes: false)
    let isFull = filePosition - recordsPosition >= configuration.segmentBytes
    if isFull || endsSegment, head > segmentOffset {
      beginSegment(snapshot: snapshot())
    }
    return group
  }

  /// The next group is the last of its segment, however small that is: what comes after it, a mark at the
  /// latest, begins another, so that the age of this one is known from now on.
  public mutating func endSegment() { endsSegment = true }

  /// The writer has written `group` (and synced it, under `fsync`). In the order of the groups.
  public mutating func complete(_ group: JournalGroup) {
    precondition(group.nextOffset >= durableHead && group.nextOffset <= head, "groups out of order")
    durableHead = group.nextOffset
    if configuration.durability == .fsync {
      syncedHead = durableHead
    } else if group.startsSegment {
      // A segment is synced before the next one begins, whatever the durability.
      syncedHead = group.chunk.offsets.lowerBound
    }
  }
}

extension JournalCore {
  /// Room for one group and most records that fill it.
  private var bufferBytes: Int { configuration.groupBytes + (configuration.groupBytes >> 2) }

  private mutating func begin(
    _ kind: RecordHeader.Kind, flags: RecordHeader.Flags = [], count: Int = 0,
    producer: JournalProducer = .none, sequence: UInt64 = 0, time: Int64
  ) -> Int {
    precondition(!hasClosed || flags.contains(.closed), "an append after the journal was closed")
    lastTime = max(lastTime, time)
    if bytes.isEmpty {
      bytes.reserveCapacity(bufferBytes)
      groupTime = lastTime
    }
    stamped = syncedHead
    let start = bytes.count
    RecordHeader(
      bodyLength: 0, kind: kind, flags: flags, segment: segment, offset: head, count: count,
      epoch: epoch, time: lastTime, synced: syncedHead, producer: producer, sequence: sequence
    ).append(to: &bytes)
    return start
  }

  private mutating func finish(from start: Int) {
    RecordHeader.seal(&bytes, from: start)
    filePosition += bytes.count - start
  }

  private mutating func makeGroup(closes: Bool) -> JournalGroup {
    let chunk = takeChunk()
    let group = JournalGroup(
      chunk: chunk, segment: segment, position: groupPosition, newSegment: pendingSegment,
      snapshot: pendingSnapshot, closes: closes, time: groupTime)
    pendingSegment = nil
    pendingSnapshot = []
    groupOffset = head
    groupPosition = filePosition
    return group
  }

  /// A large group takes the buffer with it; a small one is copied, so that a chunk which is kept for
  /// readers holds no more memory than it has bytes.
  private mutating func takeChunk() -> JournalChunk {
    var taken: [UInt8] = []
    if bytes.count * 2 >= bytes.capacity {
      swap(&taken, &bytes)
    } else {
      taken = unsafe bytes.span.bytes.copied()
      bytes.removeAll(keepingCapacity: true)
    }
    var index: [JournalRecord] = []
    swap(&index, &records)
    records.reserveCapacity(index.count)
    return JournalChunk(bytes: taken, records: index, offsets: groupOffset..<head)
  }

  private mutating func beginSegment(snapshot: [UInt8]) {
    var header = SegmentHeader(
      segment: .random(in: 1 ... .max), offset: head, time: lastTime,
      epochs: Array(epochs.suffix(SegmentHeader.maximumEpochs)),
      durability: configuration.durability)
    header.snapshotLength = snapshot.count
    header.snapshotChecksum = CRC32C.checksum(snapshot)
    pendingSegment = header
    pendingSnapshot = snapshot
    endsSegment = false
    segment = header.segment
    segmentOffset = head
    recordsPosition = header.recordsPosition
    filePosition = header.recordsPosition
    groupPosition = filePosition
  }
}
