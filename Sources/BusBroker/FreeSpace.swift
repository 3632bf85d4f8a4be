internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// What a file system has left for us.
enum FreeSpace {
  static func bytes(at directory: String) throws(SystemError) -> Int {
    var info = statvfs()
    try SystemError.check("statvfs", directory) { unsafe statvfs(directory, &info) }
    return Int(clamping: UInt64(info.f_bavail) * UInt64(info.f_frsize))
  }
}
