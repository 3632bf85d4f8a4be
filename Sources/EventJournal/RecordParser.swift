internal import Primitives

/// Walks records that follow each other, and knows what the next one must be. The single judge of
/// whether bytes are a record: readers, recovery, `verify` and `repair` all ask it.
struct RecordParser {
  /// The id of the segment file.
  let segment: UInt64
  /// The epoch and the offset that the next record must have.
  var epoch: UInt32
  var offset: UInt64
  /// Journal time of the last record.
  var time: Int64
  /// The highest `synced` seen.
  var synced: UInt64 = 0

  enum Judgement: Equatable {
    case record(RecordHeader)
    /// The record needs this many bytes from its start: not damage, unless the file ends before.
    case needs(Int)
    case damage(JournalDamage.Reason)
  }

  /// Judges the record at `position`.
  func judge(_ bytes: RawSpan, at position: Int) -> Judgement {
    let left = bytes.byteCount - position
    guard left >= RecordHeader.byteCount else { return .needs(RecordHeader.byteCount) }
    guard let header = RecordHeader(decoding: bytes, at: position) else {
      return .damage(.notARecord)
    }
    guard left >= header.byteCountWithBody else { return .needs(header.byteCountWithBody) }
    guard header.checks(in: bytes, at: position) else { return .damage(.checksum) }
    guard header.segment == segment, follows(epoch: header) else { return .damage(.stale) }
    guard header.offset == offset else { return .damage(.wrongOffset) }
    return .record(header)
  }

  /// Whether the record at `position` could follow after damage: it checks and lies ahead.
  func resumes(_ bytes: RawSpan, at position: Int) -> RecordHeader? {
    guard bytes.byteCount - position >= RecordHeader.byteCount,
      let header = RecordHeader(decoding: bytes, at: position),
      // The id first: a body can hold what looks like a record, but does not know this number.
      header.segment == segment, header.offset >= offset, header.epoch >= epoch,
      // No segment holds so many events; and `repair` would account for each of them.
      header.offset - offset <= UInt64(UInt32.max),
      bytes.byteCount - position >= header.byteCountWithBody,
      header.checks(in: bytes, at: position)
    else { return nil }
    return header
  }

  /// Takes `header` as read: the next one follows it.
  mutating func accept(_ header: RecordHeader) {
    epoch = header.epoch
    offset = header.nextOffset
    time = max(time, header.time)
    synced = max(synced, header.synced)
  }

  private func follows(epoch header: RecordHeader) -> Bool {
    header.epoch == epoch || (header.flags.contains(.epochBegins) && header.epoch > epoch)
  }
}

extension JournalRecord {
  /// The index entry of the batch whose header stands at `position`.
  init(_ header: RecordHeader, at position: Int) {
    self.init(
      offset: header.offset, count: header.count, epoch: header.epoch, time: header.time,
      bodyPosition: position + RecordHeader.byteCount, bodyLength: header.bodyLength,
      producer: header.producer, sequence: header.sequence)
  }
}
