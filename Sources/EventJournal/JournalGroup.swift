/// Records that go to the disk together: one write, one sync. Immutable; made by ``JournalCore`` on its
/// thread, written by ``JournalWriter`` on another, and its chunk then serves readers from memory.
public struct JournalGroup: Sendable {
  /// The batches and their bytes.
  public let chunk: JournalChunk
  /// The segment it belongs to.
  let segment: UInt64
  /// Where in the file its bytes begin.
  let position: Int
  /// The file to create first, when this group opens a segment.
  let newSegment: SegmentHeader?
  let snapshot: [UInt8]
  /// The last group of a clean close: what is before it must be on the disk first.
  let closes: Bool
  /// Journal time of its first record.
  let time: Int64

  /// The head once it is written.
  public var nextOffset: UInt64 { chunk.offsets.upperBound }
  public var byteCount: Int { chunk.bytes.count }
  public var startsSegment: Bool { newSegment != nil }

  /// Brings a list of segments to what it is once this group is written.
  public func extend(_ segments: inout [JournalSegment]) {
    let bytes = position + byteCount
    if let newSegment {
      segments.append(
        JournalSegment(newSegment, byteCount: bytes, end: nextOffset, lastTime: time))
    } else if !segments.isEmpty {
      segments[segments.count - 1].extend(byteCount: bytes, end: nextOffset, lastTime: time)
    }
  }
}
