internal import Primitives

/// An open journal: what any thread may ask of it. Appending goes through the ``JournalCore`` and the
/// ``JournalWriter`` that ``open(_:configuration:now:)`` returns beside it.
///
/// Readers share it without waiting for the writer or for retention: they read with `pread` from files
/// that stay open, up to the durable head that the caller passes.
public final class Journal<Storage: JournalStorage>: Sendable {
  let storage: Storage
  let catalog: SegmentCatalog<Storage.File>

  init(storage: Storage, catalog: SegmentCatalog<Storage.File>) {
    self.storage = storage
    self.catalog = catalog
  }

  /// The first offset that is still there.
  public var earliest: UInt64 { catalog.earliest }

  /// The segment files, oldest first. The newest reaches to `head`, which only the core knows.
  public func segments(head: UInt64, lastTime: Int64) -> [JournalSegment] {
    let all = catalog.all
    return all.indices.map { at in
      let next = at + 1 < all.count ? all[at + 1].header : nil
      return JournalSegment(
        all[at].header, byteCount: all[at].byteCount, end: next?.offset ?? head,
        lastTime: next?.time ?? lastTime)
    }
  }

  /// Deletes the oldest segments, as many as lie wholly below `offset`; returns what is gone.
  ///
  /// Beside readers: one that has the file open reads on, one that comes later is told
  /// ``JournalError/behindRetention(earliest:)``. The newest segment is never deleted. One thread at a
  /// time. When it throws, what is deleted stays deleted and it can be called again.
  @discardableResult
  public func removeSegments(below offset: UInt64) throws(JournalError) -> [JournalSegment] {
    var removed: [JournalSegment] = []
    while let (segment, next) = catalog.removeOldest(below: offset) {
      do {
        try storage.remove(segment.header.name)
      } catch {
        catalog.putBack(segment)
        throw .system(error)
      }
      // Each on its own: after a crash the files that are left follow each other without a hole.
      do { try storage.synchronizeDirectory() } catch { throw .system(error) }
      removed.append(
        JournalSegment(
          segment.header, byteCount: segment.byteCount, end: next.offset, lastTime: next.time))
    }
    return removed
  }
}

/// One segment file, for people and for retention.
public struct JournalSegment: Hashable, Sendable {
  public var file: String
  public var offsets: Range<UInt64>
  /// Size of the file.
  public var byteCount: Int
  /// Journal times, nanoseconds since 1970: none of its events is older than the first or newer than
  /// the last.
  public var firstTime: Int64
  public var lastTime: Int64

  init(_ header: SegmentHeader, byteCount: Int, end: UInt64, lastTime: Int64) {
    file = header.name
    offsets = header.offset..<max(header.offset, end)
    self.byteCount = byteCount
    firstTime = header.time
    self.lastTime = lastTime
  }

  mutating func extend(byteCount: Int, end: UInt64, lastTime: Int64) {
    offsets = offsets.lowerBound..<max(offsets.upperBound, end)
    self.byteCount = max(self.byteCount, byteCount)
    self.lastTime = max(self.lastTime, lastTime)
  }
}
