public import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A database's file and what SQLite keeps beside it, while no connection is open.
public enum DatabaseFiles {
  private static let suffixes = ["", "-wal", "-shm"]

  /// Renames them, so that a new one can begin under the old name. Returns whether the file itself was there.
  /// - Throws: what kept one of them from being renamed; one that is not there is no fault.
  @discardableResult
  public static func moveAside(_ path: String, to aside: String) throws(SystemError) -> Bool {
    var isMoved = false
    for suffix in suffixes {
      let result = unsafe rename(path + suffix, aside + suffix)
      if result != 0, errno != ENOENT { throw .last("rename", path + suffix) }
      if suffix.isEmpty { isMoved = result == 0 }
    }
    return isMoved
  }

  /// Deletes them, as far as they are there and can be.
  public static func remove(_ path: String) {
    for suffix in suffixes { _ = unsafe unlink(path + suffix) }
  }
}
