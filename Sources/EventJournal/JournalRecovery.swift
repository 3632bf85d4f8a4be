internal import Primitives

/// What ``Journal/open(_:configuration:now:)`` found and made: the three parts of a running journal, and
/// what the owner of the tables needs to build them again.
public struct JournalRecovery<Storage: JournalStorage>: Sendable {
  /// For the thread that receives.
  public var core: JournalCore
  /// For the thread beside it.
  public let writer: JournalWriter<Storage>
  /// For everybody.
  public let journal: Journal<Storage>
  /// The tables as they were at `replayFrom`; empty in a journal that never began a second segment.
  public let snapshot: [UInt8]
  /// The offset at which the snapshot was taken: the records from here on come on top of it.
  public let replayFrom: UInt64
  /// What was cut off the newest segment, nil when nothing was.
  public let cut: JournalCut?
  /// Whether this open began an epoch, and why.
  public let newEpoch: NewEpochReason?

  public enum NewEpochReason: String, Sendable {
    case newJournal = "the journal is new"
    case crashed = "it was not closed, and its durability does not survive that"
    case wentBack = "a subscriber has read more than it has: it went back, as to a disk's snapshot"
    case copied = "its files were put here as a copy of others, and may be older than what was read"
  }

  /// Calls `visit` with all records since the snapshot, in order, in chunks of about 4 MiB: more than
  /// 1 GB/s from the page cache. At most a segment, unless `repair` had to void a snapshot.
  public func replay(_ visit: (JournalChunk) -> Void) throws(JournalError) {
    var offset = replayFrom
    while let chunk = try journal.read(from: offset, maximumBytes: 4 << 20, upTo: core.head) {
      visit(chunk)
      offset = chunk.offsets.upperBound
    }
  }
}

/// A tail that was not on the disk when the machine or the process stopped. No event in it was
/// acknowledged, under `fsync`.
public struct JournalCut: Hashable, Sendable, CustomStringConvertible {
  public var damage: JournalDamage
  /// Bytes that were cut off.
  public var byteCount: Int
  /// Records among them that checked, but had lost one before them.
  public var records: Int

  public var description: String {
    "cut an unsynced tail of \(byteCount.counted("byte")) with \(records.counted("whole record")) off \(damage.file) "
      + "at byte \(damage.position), offset \(damage.offset): \(damage.reason.rawValue)"
  }
}
