/// Who sent a batch: 16 bytes that mean nothing to the journal. `none` is all zero.
public struct JournalProducer: Hashable, Sendable {
  public var high: UInt64
  public var low: UInt64

  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  public static let none = JournalProducer(high: 0, low: 0)
}

/// One batch within the bytes of a ``JournalChunk``: the index entry, so that nobody parses it again.
public struct JournalRecord: Hashable, Sendable {
  /// Of its first event; the others follow densely.
  public var offset: UInt64
  /// Events, at least 1.
  public var count: Int
  public var epoch: UInt32
  /// Journal time, nanoseconds since 1970.
  public var time: Int64
  /// Where the body stands in the chunk's bytes.
  public var bodyPosition: Int
  public var bodyLength: Int
  public var producer: JournalProducer
  public var sequence: UInt64

  public var nextOffset: UInt64 { offset + UInt64(count) }
  public var body: Range<Int> { bodyPosition..<(bodyPosition + bodyLength) }
}
