public import EventJournal
public import Primitives
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A directory in memory that behaves as badly as a disk may: it stops before the n-th operation, has no
/// room after so many bytes, fails a sync, and at a crash keeps any part of what was not synced.
///
/// What it promises is what ``JournalStorage`` asks: synced bytes and synced names survive.
public final class FaultyStorage: JournalStorage {
  public struct Faults: Sendable {
    /// Every call from this one on fails, as if the process were gone.
    public var stopsBefore = Int.max
    /// Bytes that may still be written.
    public var room = Int.max
    /// The sync with this number, from 0, fails.
    public var failingSync = Int.max
    /// When `room` is used up the file system is not full but read-only.
    public var isReadOnly = false
    /// Syncs succeed and do nothing, as on a disk that lies, or under a journal that leaves them out.
    public var skipsSyncs = false

    var refusesAll: Bool { isReadOnly && room == 0 }

    public init(
      stopsBefore: Int = .max, room: Int = .max, failingSync: Int = .max, skipsSyncs: Bool = false
    ) {
      self.stopsBefore = stopsBefore
      self.room = room
      self.failingSync = failingSync
      self.skipsSyncs = skipsSyncs
    }
  }

  struct Inode: Sendable {
    var bytes: [UInt8] = []
    var durable: [UInt8] = []
    var pending: [Change] = []
  }

  enum Change: Sendable {
    case write([UInt8], at: Int)
    case truncate(Int)
  }

  enum NameChange: Sendable {
    case set(String, Int)
    case rename(String, to: String, Int)
    case remove(String)
  }

  struct State: Sendable {
    var inodes: [Inode] = []
    var names: [String: Int] = [:]
    var durableNames: [String: Int] = [:]
    var pendingNames: [NameChange] = []
    var faults = Faults()
    var operations = 0
    var syncs = 0
    var isLocked = false
  }

  let state: Mutex<State>
  public let location = "a faulty disk"

  public init() { state = Mutex(State()) }
  private init(_ state: State) { self.state = Mutex(state) }

  public var operations: Int { state.withLock { $0.operations } }
  public var syncs: Int { state.withLock { $0.syncs } }
  public func setFaults(_ faults: Faults) { state.withLock { $0.faults = faults } }

  public func lock() throws(SystemError) -> JournalLock<FaultyFile> {
    try change { state throws(SystemError) in
      guard !state.isLocked else { return .busy(holder: 7) }
      state.isLocked = true
      state.inodes.append(Inode())
      return .held(FaultyFile(self, state.inodes.count - 1, isLock: true))
    }
  }

  public func list() throws(SystemError) -> [String] {
    try change { state throws(SystemError) in Array(state.names.keys) }
  }

  public func open(_ name: String, forWriting: Bool) throws(SystemError) -> FaultyFile {
    try change { state throws(SystemError) in
      guard let inode = state.names[name] else {
        throw SystemError(call: "open", code: ENOENT, subject: name)
      }
      return FaultyFile(self, inode)
    }
  }

  public func create(_ name: String) throws(SystemError) -> FaultyFile {
    try change { state throws(SystemError) in
      guard !state.faults.refusesAll else { throw SystemError(call: "open", code: EROFS) }
      state.inodes.append(Inode())
      state.names[name] = state.inodes.count - 1
      state.pendingNames.append(.set(name, state.inodes.count - 1))
      return FaultyFile(self, state.inodes.count - 1)
    }
  }

  public func rename(_ name: String, to newName: String) throws(SystemError) {
    try change { state throws(SystemError) in
      guard let inode = state.names.removeValue(forKey: name) else {
        throw SystemError(call: "rename", code: ENOENT, subject: name)
      }
      state.names[newName] = inode
      state.pendingNames.append(.rename(name, to: newName, inode))
    }
  }

  public func remove(_ name: String) throws(SystemError) {
    try change { state throws(SystemError) in
      guard state.names.removeValue(forKey: name) != nil else {
        throw SystemError(call: "unlink", code: ENOENT, subject: name)
      }
      state.pendingNames.append(.remove(name))
    }
  }

  public func synchronizeDirectory() throws(SystemError) {
    try change { state throws(SystemError) in
      state.durableNames = state.names
      state.pendingNames = []
    }
  }

  /// The names of the segment files, oldest first.
  public var segmentNames: [String] {
    state.withLock { $0.names.keys.filter { $0.hasSuffix(".segment") }.sorted() }
  }

  public func bytes(of name: String) -> [UInt8] {
    state.withLock { state in state.names[name].map { state.inodes[$0].bytes } ?? [] }
  }

  /// Another hand than the journal's changes a file, on the disk and in the cache.
  public func replace(_ name: String, with bytes: [UInt8]) {
    state.withLock { state in
      guard let inode = state.names[name] else { return }
      state.inodes[inode] = Inode(bytes: bytes, durable: bytes)
    }
  }

  /// One operation: counted, and refused once the process is gone.
  func change<R>(
    _ body: (inout State) throws(SystemError) -> sending R
  ) throws(SystemError) -> sending R {
    try state.withLock { state throws(SystemError) in
      guard state.operations < state.faults.stopsBefore else {
        throw SystemError(call: "stopped", code: EIO)
      }
      state.operations += 1
      return try body(&state)
    }
  }

  /// The disk after the machine lost its power: a new storage with what survived.
  public func afterPowerLoss(using random: inout some RandomNumberGenerator) -> FaultyStorage {
    var state = state.withLock { $0 }
    for change in state.pendingNames where Bool.random(using: &random) {
      state.durableNames.apply(change)
    }
    for index in state.inodes.indices {
      state.inodes[index].losePower(using: &random)
    }
    state.names = state.durableNames
    return Self.restarted(state)
  }

  /// The disk after the process was killed: nothing is lost.
  public func afterKill() -> FaultyStorage { Self.restarted(state.withLock { $0 }) }

  private static func restarted(_ state: State) -> FaultyStorage {
    var state = state
    state.faults = Faults()
    state.operations = 0
    state.syncs = 0
    state.isLocked = false
    return FaultyStorage(state)
  }
}

extension [String: Int] {
  fileprivate mutating func apply(_ change: FaultyStorage.NameChange) {
    switch change {
    case .set(let name, let inode): self[name] = inode
    case .remove(let name): self[name] = nil
    case .rename(let name, let newName, let inode):
      self[name] = nil
      self[newName] = inode
    }
  }
}

extension FaultyStorage.Inode {
  /// Keeps any part of each change since the last sync: all, nothing, a beginning, some pages, or the
  /// size with zeros in place of the bytes.
  mutating func losePower(using random: inout some RandomNumberGenerator) {
    for change in pending {
      switch change {
      case .truncate(let size):
        if Bool.random(using: &random) { durable.resize(to: size) }
      case .write(let new, let position):
        switch Int.random(in: 0..<6, using: &random) {
        case 0: break
        case 1, 2: durable.place(new[...], at: position)
        case 3:
          durable.place(new[..<Int.random(in: 0...new.count, using: &random)], at: position)
        case 4: durable.place([UInt8](repeating: 0, count: new.count)[...], at: position)
        default:
          for page in stride(from: 0, to: new.count, by: 64) where Bool.random(using: &random) {
            durable.place(new[page..<min(page + 64, new.count)], at: position + page)
          }
        }
      }
    }
    bytes = durable
    pending = []
  }
}

extension [UInt8] {
  mutating func resize(to size: Int) {
    if size < count { removeLast(count - size) }
    if size > count { self += [UInt8](repeating: 0, count: size - count) }
  }

  mutating func place(_ new: ArraySlice<UInt8>, at position: Int) {
    guard !new.isEmpty else { return }
    if position + new.count > count { resize(to: position + new.count) }
    replaceSubrange(position..<(position + new.count), with: new)
  }
}
