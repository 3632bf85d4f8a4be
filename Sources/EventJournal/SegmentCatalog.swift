internal import Primitives
internal import Synchronization

/// One segment file as readers, the writer and retention share it.
final class Segment<File: JournalFile>: Sendable {
  let header: SegmentHeader
  private let state: Mutex<State>

  private struct State {
    var file: File?
    var index: SegmentIndex
    var byteCount: Int
  }

  init(header: SegmentHeader, byteCount: Int) {
    self.header = header
    let start = SegmentPlace(
      offset: header.offset, position: header.recordsPosition, epoch: header.epoch,
      time: header.time)
    state = Mutex(State(file: nil, index: SegmentIndex(start: start), byteCount: byteCount))
  }

  var byteCount: Int { state.withLock { $0.byteCount } }

  func place(atOrBefore offset: UInt64) -> SegmentPlace {
    state.withLock { $0.index.place(atOrBefore: offset) }
  }

  func place(olderThan time: Int64) -> SegmentPlace {
    state.withLock { $0.index.place(olderThan: time) }
  }

  func note(_ place: SegmentPlace) { state.withLock { $0.index.note(place) } }
  func noteRecent(_ place: SegmentPlace) { state.withLock { $0.index.noteRecent(place) } }
  func setByteCount(_ count: Int) { state.withLock { $0.byteCount = count } }

  /// The open file, opened by the first who needs it. `opened` says whether that was now.
  func file(_ open: () throws(SystemError) -> File) throws(SystemError) -> (File, opened: Bool) {
    try state.withLock { state throws(SystemError) in
      if let file = state.file { return (file, false) }
      let file = try open()
      state.file = file
      return (file, true)
    }
  }

  /// Lets the file go; whoever reads it at the moment keeps it until done.
  func releaseFile() { state.withLock { $0.file = nil } }
}

/// The segments that are there, oldest first. Shared by all threads of a journal.
final class SegmentCatalog<File: JournalFile>: Sendable {
  /// Files kept open for reading.
  static var openFileLimit: Int { 64 }

  private let state: Mutex<State>

  private struct State {
    var segments: [Segment<File>]
    /// Those with an open file, in the order of opening.
    var open: [Segment<File>] = []
  }

  init(_ segments: [Segment<File>]) { state = Mutex(State(segments: segments)) }

  var all: [Segment<File>] { state.withLock { $0.segments } }
  var earliest: UInt64 { state.withLock { $0.segments.first?.header.offset ?? 0 } }

  func append(_ segment: Segment<File>) { state.withLock { $0.segments.append(segment) } }

  /// The segment that holds `offset`, and where the next one begins, if there is a next.
  func segment(holding offset: UInt64) throws(JournalError) -> (Segment<File>, end: UInt64?) {
    try state.withLock { state throws(JournalError) in
      var low = 0
      var high = state.segments.count
      while low < high {
        let middle = (low + high) / 2
        if state.segments[middle].header.offset <= offset {
          low = middle + 1
        } else {
          high = middle
        }
      }
      guard low > 0 else {
        throw .behindRetention(earliest: state.segments.first?.header.offset ?? 0)
      }
      let next = low < state.segments.count ? state.segments[low].header.offset : nil
      return (state.segments[low - 1], next)
    }
  }

  /// Takes the oldest segment out if all of it lies below `offset`; the newest always stays.
  func removeOldest(below offset: UInt64) -> (Segment<File>, next: SegmentHeader)? {
    state.withLock { state in
      guard state.segments.count > 1, state.segments[1].header.offset <= offset else { return nil }
      let removed = state.segments.removeFirst()
      state.open.removeAll { $0 === removed }
      removed.releaseFile()
      return (removed, state.segments[0].header)
    }
  }

  /// Undoes `removeOldest` when the file could not be deleted.
  func putBack(_ segment: Segment<File>) { state.withLock { $0.segments.insert(segment, at: 0) } }

  /// Counts a file that was just opened, and lets go of the one opened longest ago at the limit.
  func noteOpened(_ segment: Segment<File>) {
    state.withLock { state in
      state.open.append(segment)
      if state.open.count > Self.openFileLimit { state.open.removeFirst().releaseFile() }
    }
  }
}
