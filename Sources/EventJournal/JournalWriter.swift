internal import Primitives
internal import Synchronization

/// Puts groups into files: one write and one sync each. For one thread beside the loop; it blocks.
///
/// A group is all or nothing for the next open: what a full disk let through is cut off again, and the
/// same group can be written later. Any other failure is final, a failed sync above all: the kernel may
/// have dropped the pages, so a second sync that succeeds proves nothing (PostgreSQL's lesson of 2018).
public final class JournalWriter<Storage: JournalStorage>: Sendable {
  private let storage: Storage
  private let durability: JournalDurability
  private let catalog: SegmentCatalog<Storage.File>
  // One thread writes; the lock makes a mistake about that wait instead of corrupt.
  private let state: Mutex<State>

  private struct State {
    var file: Storage.File
    var segment: Segment<Storage.File>
    /// The lock on the directory, held as long as the writer lives.
    let lock: Storage.File
    var failure: JournalError?
  }

  init(
    storage: Storage, durability: JournalDurability, catalog: SegmentCatalog<Storage.File>,
    file: Storage.File, segment: Segment<Storage.File>, lock: Storage.File
  ) {
    self.storage = storage
    self.durability = durability
    self.catalog = catalog
    state = Mutex(State(file: file, segment: segment, lock: lock))
  }

  /// Writes a group, in the order in which the core gave them, and syncs it under `fsync`.
  ///
  /// - Throws: `.diskFull` when there was no room: nothing of the group is left, write it again before
  ///   any later group. Everything else is final, and every further call throws it again.
  public func write(_ group: JournalGroup) throws(JournalError) {
    try state.withLock { state throws(JournalError) in
      if let failure = state.failure { throw failure }
      do throws(JournalError) {
        try write(group, &state)
      } catch {
        if !error.isRetriable { state.failure = error }
        throw error
      }
      if group.closes { state.failure = .closed }
    }
  }

  private func write(_ group: JournalGroup, _ state: inout State) throws(JournalError) {
    // A retry finds the segment made.
    if let header = group.newSegment, header.segment != state.segment.header.segment {
      // Before the next segment begins this one is on the disk, so only the newest can have an
      // unsynced tail, whatever the durability.
      try final { () throws(SystemError) in try state.file.synchronize() }
      let file = try SegmentFiles(storage).make(header, snapshot: group.snapshot)
      state.file = file
      state.segment = Segment(header: header, byteCount: header.recordsPosition)
      catalog.append(state.segment)
    }
    precondition(group.segment == state.segment.header.segment, "a group of another segment")
    if group.closes { try final { () throws(SystemError) in try state.file.synchronize() } }
    try append(group, to: state.file)
    if durability == .fsync || group.closes {
      try final { () throws(SystemError) in try state.file.synchronize() }
    }
    // Before the acknowledgement: a synced file without a name is as good as none.
    var hasName = false
    try final { () throws(SystemError) in hasName = try state.file.hasName() }
    guard hasName else {
      throw .removed(file: "\(storage.location)/\(state.segment.header.name)")
    }
    state.segment.setByteCount(group.position + group.byteCount)
    if let first = group.chunk.records.first {
      state.segment.note(
        SegmentPlace(
          offset: first.offset, position: group.position, epoch: first.epoch, time: group.time))
    }
  }

  private func append(_ group: JournalGroup, to file: Storage.File) throws(JournalError) {
    do {
      try file.write(group.chunk.bytes, at: group.position)
    } catch {
      // Nothing can be cut off there now. What a write has left is overwritten by the same bytes later, and
      // after a crash it is an unsynced tail.
      if error.isReadOnly { throw .diskFull(error) }
      guard error.isDiskFull else { throw .system(error) }
      try final { () throws(SystemError) in try file.truncate(to: group.position) }
      throw .diskFull(error)
    }
  }

  /// A call whose failure is final, a full disk too.
  private func final(_ call: () throws(SystemError) -> Void) throws(JournalError) {
    do { try call() } catch { throw .system(error) }
  }
}
