#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Folders that files are to lie in.
public enum Folders {
  /// Makes the folder and what is missing above it. What is there stays as it is.
  ///
  /// - Throws: what kept the first of them from being made.
  public static func make(_ path: String, mode: UInt32 = 0o750) throws(SystemError) {
    if unsafe mkdir(path, mode_t(mode)) == 0 { return }
    // From the inside out: where an app is confined, folders far above it are there, but not to be made.
    switch errno {
    case EEXIST: return
    case ENOENT where parent(of: path) != nil:
      if let parent = parent(of: path) { try make(parent, mode: mode) }
      if unsafe mkdir(path, mode_t(mode)) != 0, errno != EEXIST { throw .last("mkdir", path) }
    default: throw .last("mkdir", path)
    }
  }

  /// Whether something is there.
  ///
  /// - Throws: where that cannot be seen, since a folder above it does not let this user in.
  public static func isThere(_ path: String) throws(SystemError) -> Bool {
    if unsafe access(path, F_OK) == 0 { return true }
    guard errno == ENOENT || errno == ENOTDIR else { throw .last("access", path) }
    return false
  }

  /// The folder that a file or folder lies in; nil where its path names none.
  public static func parent(of path: String) -> String? {
    var bytes = path.utf8[...]
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")), slash > bytes.startIndex else {
      return nil
    }
    return String(bytes[..<slash])
  }
}
