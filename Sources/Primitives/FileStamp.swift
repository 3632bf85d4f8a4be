#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// What tells a file from itself at another time: inode, size and the time of its last change, so that neither
/// a replacement nor a change of its mode goes unnoticed. One `stat` call.
public struct FileStamp: Hashable, Sendable {
  private var inode: UInt64
  private var bytes: Int64
  private var seconds: Int
  private var nanoseconds: Int

  /// Nil where no file can be found.
  public init?(_ path: String) {
    var info = stat()
    guard unsafe stat(path, &info) == 0 else { return nil }
    #if canImport(Glibc)
      let time = info.st_ctim
    #else
      let time = info.st_ctimespec
    #endif
    inode = UInt64(info.st_ino)
    bytes = Int64(info.st_size)
    seconds = time.tv_sec
    nanoseconds = time.tv_nsec
  }
}
