public import EventJournal
public import Primitives
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// An open file of a ``FaultyStorage``.
public final class FaultyFile: JournalFile {
  private let storage: FaultyStorage
  private let inode: Int
  private let isLock: Bool

  init(_ storage: FaultyStorage, _ inode: Int, isLock: Bool = false) {
    self.storage = storage
    self.inode = inode
    self.isLock = isLock
  }

  deinit {
    if isLock { storage.state.withLock { $0.isLocked = false } }
  }

  public func size() throws(SystemError) -> Int {
    try storage.change { state throws(SystemError) in state.inodes[inode].bytes.count }
  }

  public func read(_ count: Int, at position: Int) throws(SystemError) -> [UInt8] {
    try storage.change { state throws(SystemError) in
      let bytes = state.inodes[inode].bytes
      let start = min(position, bytes.count)
      return Array(bytes[start..<min(start + count, bytes.count)])
    }
  }

  public func write(_ bytes: RawSpan, at position: Int) throws(SystemError) {
    let new = bytes.copied()
    try storage.change { state throws(SystemError) in
      let kept = Array(new.prefix(state.faults.room))
      state.faults.room -= kept.count
      state.inodes[inode].bytes.place(kept[...], at: position)
      if !kept.isEmpty { state.inodes[inode].pending.append(.write(kept, at: position)) }
      if kept.count < new.count {
        throw SystemError(call: "pwrite", code: state.faults.isReadOnly ? EROFS : ENOSPC)
      }
    }
  }

  public func truncate(to size: Int) throws(SystemError) {
    try storage.change { state throws(SystemError) in
      guard !state.faults.refusesAll else { throw SystemError(call: "ftruncate", code: EROFS) }
      state.inodes[inode].bytes.resize(to: size)
      state.inodes[inode].pending.append(.truncate(size))
    }
  }

  public func synchronize() throws(SystemError) {
    try storage.change { state throws(SystemError) in
      state.syncs += 1
      guard state.syncs - 1 != state.faults.failingSync else {
        // As Linux does: the pages count as clean now, whether or not they reached the disk.
        throw SystemError(call: "fdatasync", code: EIO)
      }
      guard !state.faults.skipsSyncs else { return }
      state.inodes[inode].durable = state.inodes[inode].bytes
      state.inodes[inode].pending = []
    }
  }
}
