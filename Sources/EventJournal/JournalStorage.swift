public import Primitives

/// A directory of files: what the journal needs of a file system, and no more. Generic over it, the
/// journal runs on the disk and on a model that crashes, tears and fills up.
///
/// Any thread may call it. An implementation keeps these promises: what was synced survives a crash; a
/// name that was created, renamed or removed is durable after `synchronizeDirectory`; an open file goes
/// on working after it was removed.
public protocol JournalStorage: Sendable {
  associatedtype File: JournalFile

  /// For messages.
  var location: String { get }
  /// Takes the lock that makes this process the only writer; held as long as the file.
  func lock() throws(SystemError) -> JournalLock<File>
  /// The names of all files.
  func list() throws(SystemError) -> [String]
  /// Opens a file that is there: for reading, or for both.
  func open(_ name: String, forWriting: Bool) throws(SystemError) -> File
  /// Creates an empty file; one of that name is emptied.
  func create(_ name: String) throws(SystemError) -> File
  /// Replaces a file of the new name.
  func rename(_ name: String, to newName: String) throws(SystemError)
  func remove(_ name: String) throws(SystemError)
  func synchronizeDirectory() throws(SystemError)
  /// Whether somebody put the files here as a copy of others, instead of the journal itself.
  func isCopy() throws(SystemError) -> Bool
  /// From now on the files are no copy. Durable when it returns.
  func claim() throws(SystemError)
}

extension JournalStorage {
  public func isCopy() throws(SystemError) -> Bool { false }
  public func claim() throws(SystemError) {}
}

/// An open file; it closes with its last reference.
public protocol JournalFile: AnyObject, Sendable {
  func size() throws(SystemError) -> Int
  /// At most `count` bytes from `position`; fewer only at the file's end.
  func read(_ count: Int, at position: Int) throws(SystemError) -> [UInt8]
  /// Writes all of `bytes`; when it throws, any part of them may be in the file.
  func write(_ bytes: RawSpan, at position: Int) throws(SystemError)
  func truncate(to size: Int) throws(SystemError)
  /// Returns once contents and size are on the disk.
  func synchronize() throws(SystemError)
  /// Whether a name still leads to it. What is written to a file without one is gone when it is closed.
  func hasName() throws(SystemError) -> Bool
}

/// The answer to taking the lock.
public enum JournalLock<File: JournalFile>: Sendable {
  case held(File)
  /// By the process with this id, if it left one.
  case busy(holder: Int32?)
}

extension JournalFile {
  public func hasName() -> Bool { true }

  func write(_ bytes: [UInt8], at position: Int) throws(SystemError) {
    try write(unsafe bytes.span.bytes, at: position)
  }
}
