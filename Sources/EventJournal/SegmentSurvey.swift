internal import Primitives

/// One pass over a whole segment file: how far it is good, and all damage in it. Recovery, `verify` and
/// `repair` decide by it.
struct SegmentSurvey {
  let header: SegmentHeader
  let size: Int
  /// Where the good records end: at the first damage, or at the end of the file.
  private(set) var end: SegmentPlace
  private(set) var breaks: [Break] = []
  var damages: [JournalDamage] { breaks.map(\.damage) }
  /// The highest `synced` of any record, also of those behind damage.
  private(set) var synced: UInt64 = 0
  /// Epochs that begin in the file, before the first damage.
  private(set) var epochs: [JournalEpoch] = []
  /// Of the last session that wrote to it, as far as it is good.
  private(set) var durability: JournalDurability
  /// Whether the last record says that the journal was closed.
  private(set) var isClosed = false
  private(set) var batches = 0
  private(set) var events: UInt64 = 0
  /// Offsets that an earlier repair gave up.
  private(set) var lost: UInt64 = 0
  private(set) var recordsBehindDamage = 0
  /// The next offset at the end of the file, damage or not.
  private(set) var lastOffset: UInt64
  /// Epoch and journal time there.
  private(set) var lastEpoch: UInt32
  private(set) var lastTime: Int64

  /// Damage, and what stands before and behind it.
  struct Break {
    var damage: JournalDamage
    /// Epoch and journal time of the last record before.
    var epoch: UInt32
    var time: Int64
    /// The epoch of the record that follows, if one does.
    var nextEpoch: UInt32?
  }

  /// Bytes read at once; a larger record is read whole.
  static let window = 1 << 20

  /// Reads the whole file. `note` gets places for an index, at least `SegmentIndex.spacing` apart.
  init(
    _ header: SegmentHeader, in file: some JournalFile, note: (SegmentPlace) -> Void = { _ in }
  ) throws(JournalError) {
    self.header = header
    do { size = try file.size() } catch { throw .system(error) }
    durability = header.durability
    lastOffset = header.offset
    lastEpoch = header.epoch
    lastTime = header.time
    end = SegmentPlace(
      offset: header.offset, position: header.recordsPosition, epoch: header.epoch,
      time: header.time)
    var source = RecordSource(file: file, size: size, position: header.recordsPosition)
    var parser = RecordParser(
      segment: header.segment, epoch: header.epoch, offset: header.offset, time: header.time)
    var noted = end.position
    while true {
      switch try source.judge(parser) {
      case .record(let record):
        take(record, parser)
        parser.accept(record)
        source.skip(record.byteCountWithBody)
        lastOffset = parser.offset
        lastEpoch = parser.epoch
        lastTime = parser.time
        guard breaks.isEmpty else { continue }
        end = SegmentPlace(
          offset: parser.offset, position: source.position, epoch: parser.epoch, time: parser.time)
        if end.position - noted >= SegmentIndex.spacing {
          noted = end.position
          note(end)
        }
      case .end:
        synced = parser.synced
        return
      case .damage(let reason):
        isClosed = false
        let start = source.position
        let next = try source.findNext(parser)
        let damage = JournalDamage(
          file: header.name, position: start, length: source.position - start,
          offset: parser.offset, resumesAt: next?.offset, reason: reason)
        breaks.append(
          Break(damage: damage, epoch: parser.epoch, time: parser.time, nextEpoch: next?.epoch))
        guard let next else { continue }
        parser.epoch = next.epoch
        parser.offset = next.offset
      }
    }
  }

  private mutating func take(_ record: RecordHeader, _ parser: RecordParser) {
    isClosed = record.kind == .mark && record.flags.contains(.closed)
    switch record.kind {
    case .batch:
      batches += 1
      events += UInt64(record.count)
    case .lost, nil: lost += UInt64(record.count)
    case .mark: break
    }
    guard breaks.isEmpty else {
      recordsBehindDamage += 1
      return
    }
    if record.kind == .mark, record.flags.contains(.opened) {
      durability = JournalDurability(flags: record.flags)
    }
    if record.epoch != parser.epoch {
      epochs.append(JournalEpoch(number: record.epoch, firstOffset: record.offset))
    }
  }
}

/// Reads a segment file front to back through a window, and finds records again after damage.
struct RecordSource<File: JournalFile> {
  let file: File
  let size: Int
  /// In the file; the next record begins here.
  private(set) var position: Int
  private var bytes: [UInt8] = []
  private var start = 0

  init(file: File, size: Int, position: Int) {
    self.file = file
    self.size = size
    self.position = min(position, size)
    start = self.position
  }

  enum Judgement {
    case record(RecordHeader)
    case damage(JournalDamage.Reason)
    case end
  }

  mutating func judge(_ parser: RecordParser) throws(JournalError) -> Judgement {
    guard position < size else { return .end }
    var wanted = RecordHeader.byteCount
    while true {
      try fill(wanted)
      switch unsafe parser.judge(bytes.span.bytes, at: position - start) {
      case .record(let header): return .record(header)
      case .damage(let reason): return .damage(reason)
      case .needs(let more):
        guard position + more <= size else { return .damage(.torn) }
        wanted = more
      }
    }
  }

  mutating func skip(_ count: Int) { position += count }

  /// Moves to the next record behind the present position that `parser` takes as a resumption; to the
  /// end of the file when there is none.
  mutating func findNext(_ parser: RecordParser) throws(JournalError) -> RecordHeader? {
    position += 1
    while position + RecordHeader.byteCount <= size {
      try fill(RecordHeader.byteCount)
      guard let found = nextMagic() else {
        position = start + bytes.count - RecordHeader.byteCount + 1
        continue
      }
      position = found
      let header = unsafe RecordHeader(decoding: bytes.span.bytes, at: position - start)
      if let header, header.segment == parser.segment,
        position + header.byteCountWithBody <= size
      {
        try fill(header.byteCountWithBody)
        if let next = unsafe parser.resumes(bytes.span.bytes, at: position - start) { return next }
      }
      position += 1
    }
    position = size
    return nil
  }

  /// The position in the file of the next magic number within the window, with room for a header.
  private func nextMagic() -> Int? {
    let span = unsafe bytes.span.bytes
    var at = position - start
    while at + RecordHeader.byteCount <= span.byteCount {
      if span.bigEndian(at: at, as: UInt32.self) == RecordHeader.magic { return start + at }
      at += 1
    }
    return nil
  }

  /// Makes sure that `count` bytes from the position are in the window, if the file has them.
  private mutating func fill(_ count: Int) throws(JournalError) {
    guard position < start || position + count > start + bytes.count else { return }
    start = position
    let wanted = max(count, SegmentSurvey.window)
    do { bytes = try file.read(wanted, at: position) } catch { throw .system(error) }
    // The file can have shrunk only by another's hand; the window then ends early.
    guard bytes.count >= min(count, size - position) else {
      throw .system(SystemError(call: "pread", code: 5, subject: "a file that shrank"))
    }
  }
}
