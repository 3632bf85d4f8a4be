/// Records that follow each other, with the bytes they stand in: what a group holds in memory and what
/// a read of a segment file brings. Immutable, so any thread may keep and read it.
public final class JournalChunk: Sendable {
  /// Raw bytes of the segment file: headers and bodies.
  public let bytes: [UInt8]
  /// The batches, in the order of their offsets. Marks are not among them.
  public let records: [JournalRecord]
  /// From the first record's offset to the offset to read next. Empty when there are only marks.
  public let offsets: Range<UInt64>
  /// Offsets within `offsets` whose events damage took, in order; `repair` left them out.
  public let lost: [Range<UInt64>]

  init(
    bytes: [UInt8], records: [JournalRecord], offsets: Range<UInt64>, lost: [Range<UInt64>] = []
  ) {
    self.bytes = bytes
    self.records = records
    self.offsets = offsets
    self.lost = lost
  }

  /// Bytes of memory it holds.
  public var memoryBytes: Int {
    bytes.capacity + records.capacity * MemoryLayout<JournalRecord>.stride
  }

  /// Calls `use` with a record's body, without copying it.
  @inlinable
  public func withBody<R, E: Error>(
    of record: JournalRecord, _ use: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    let bytes = bytes
    return try use(unsafe bytes.span.bytes.extracting(record.body))
  }

  /// The place in `records` of the one that holds `offset`, or of the first after it when that offset
  /// was lost; nil when there is none. Binary search.
  public func index(of offset: UInt64) -> Int? {
    var low = 0
    var high = records.count
    while low < high {
      let middle = (low + high) / 2
      if records[middle].nextOffset <= offset { low = middle + 1 } else { high = middle }
    }
    return low < records.count ? low : nil
  }
}
