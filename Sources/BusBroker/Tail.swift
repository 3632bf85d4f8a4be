internal import EventJournal

/// The newest durable groups, kept in memory: subscribers that are up to date are served from here and
/// never touch the disk. Bounded by bytes; what falls out is read from segment files.
struct Tail {
  let maximumBytes: Int
  private var chunks: [JournalChunk] = []
  /// Chunks before this index have fallen out. The array is trimmed when they are many, since each trim
  /// moves all that are left, or large, since until then they hold their memory.
  private var start = 0
  private var fallenBytes = 0
  private(set) var byteCount = 0
  /// Bytes of all chunks that it keeps alive, those that have fallen out included: at most a sixteenth more,
  /// and one chunk.
  var heldBytes: Int { byteCount + fallenBytes }
  /// The first offset that the tail holds.
  private(set) var first: UInt64

  init(maximumBytes: Int, first: UInt64) {
    self.maximumBytes = maximumBytes
    self.first = first
  }

  mutating func append(_ chunk: JournalChunk) {
    guard !chunk.records.isEmpty else { return }
    chunks.append(chunk)
    byteCount += chunk.memoryBytes
    while byteCount > maximumBytes, start < chunks.count {
      let bytes = chunks[start].memoryBytes
      byteCount -= bytes
      fallenBytes += bytes
      first = chunks[start].offsets.upperBound
      start += 1
    }
    if start >= 64 || fallenBytes > maximumBytes / 16 {
      chunks.removeFirst(start)
      start = 0
      fallenBytes = 0
    }
  }

  /// The chunk that holds `offset`, and those after it; empty when it is not here.
  func chunks(from offset: UInt64) -> ArraySlice<JournalChunk> {
    guard offset >= first else { return [] }
    var low = start
    var high = chunks.count
    while low < high {
      let middle = (low + high) / 2
      if chunks[middle].offsets.upperBound <= offset { low = middle + 1 } else { high = middle }
    }
    return chunks[low...]
  }
}
