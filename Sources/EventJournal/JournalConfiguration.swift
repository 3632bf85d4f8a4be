/// When an event counts as stored.
public enum JournalDurability: String, CaseIterable, Sendable {
  /// After `fdatasync`: survives a power loss.
  case fsync
  /// After `write`: survives the process, not the machine. A crash begins a new epoch.
  case os
  /// At once, before it is written. A crash begins a new epoch.
  case none
}

/// Sizes and promises of a journal.
public struct JournalConfiguration: Sendable {
  public var durability: JournalDurability
  /// A segment file that has reached this size gets no further group. It can grow past it by one
  /// group, and does not count its snapshot.
  public var segmentBytes: Int
  /// A group with this many bytes is full (``JournalCore/groupIsFull``). It is a bound for the caller:
  /// one record more always fits.
  public var groupBytes: Int
  /// Begins a new epoch at open though nothing seems lost: somebody has read more than it has.
  public var wentBack = false

  public init(
    durability: JournalDurability, segmentBytes: Int = 128 << 20, groupBytes: Int = 1 << 20
  ) {
    precondition(segmentBytes > 0 && groupBytes > 0, "sizes are positive")
    self.durability = durability
    self.segmentBytes = segmentBytes
    self.groupBytes = groupBytes
  }
}

/// An unbroken life of the journal: within one epoch an offset means one event for ever.
public struct JournalEpoch: Hashable, Sendable {
  /// Grows, and is never given twice, in another directory neither: it is the second of its start, or
  /// one more than the epoch before.
  public var number: UInt32
  /// Its first offset. It ends where the next one begins.
  public var firstOffset: UInt64

  public init(number: UInt32, firstOffset: UInt64) {
    self.number = number
    self.firstOffset = firstOffset
  }
}

extension [JournalEpoch] {
  /// Where the epoch `number` ends: the first offset that is not its own. `head` for the present one,
  /// nil for one that is not in the list.
  public func end(of number: UInt32, head: UInt64) -> UInt64? {
    guard let at = firstIndex(where: { $0.number == number }) else { return nil }
    return at + 1 < count ? self[at + 1].firstOffset : head
  }
}
