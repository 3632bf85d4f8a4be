#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension Database {
  /// Opens a file that is there for reading only: a reader makes, changes and deletes nothing on disk.
  ///
  /// Beside a writer, or after one that was killed, it reads through the write-ahead log, whose `-shm`
  /// file serves both as their meeting place, and sees what is committed later. When there is no such
  /// log, it takes the file for one that nobody changes (`isImmutable`): a writer that starts later is
  /// not seen, and could change pages under it; who reads so compares `fileState` before and after.
  ///
  /// - Parameter versions: the newest schema that the caller knows. An older one is refused too: it has
  ///   to be opened by its writer first.
  public init(
    readOnly path: String, versions: Int, busyMilliseconds: Int32 = 5000
  ) throws(DatabaseError) {
    isImmutable = unsafe access(path + "-wal", F_OK) != 0
    let opened = try Connection(path, isImmutable ? .readImmutable : .read)
    opened.waitWhenBusy(milliseconds: busyMilliseconds)
    let version = try Self.version(of: opened, knowing: versions)
    guard version == versions else {
      throw DatabaseError(
        kind: .other, path: path,
        text: "has schema \(version), this program reads \(versions): start its service once")
    }
    connection = opened
  }

  /// What differs once the database file itself was written; a transaction alone, which goes to the log,
  /// does not show.
  public struct FileState: Hashable, Sendable {
    var inode: UInt64
    var bytes: Int64
    var seconds: Int64
    var nanoseconds: Int64
  }

  /// Nil where there is no file.
  public static func fileState(_ path: String) -> FileState? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    #if canImport(Glibc)
      let time = status.st_mtim
    #else
      let time = status.st_mtimespec
    #endif
    return FileState(
      inode: UInt64(status.st_ino), bytes: Int64(status.st_size), seconds: Int64(time.tv_sec),
      nanoseconds: Int64(time.tv_nsec))
  }
}
