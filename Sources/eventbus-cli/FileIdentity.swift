import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Which regular file it is, by whatever name or link it was reached.
struct FileIdentity: Hashable {
  private let device: UInt64
  private let number: UInt64

  /// Nil where nothing is, or something else than a file.
  init?(path: String) {
    var info = stat()
    guard unsafe stat(path, &info) == 0 else { return nil }
    self.init(info)
  }

  init?(descriptor: Int32) {
    var info = stat()
    guard unsafe fstat(descriptor, &info) == 0 else { return nil }
    self.init(info)
  }

  private init?(_ info: stat) {
    guard info.st_mode & S_IFMT == S_IFREG else { return nil }
    device = UInt64(info.st_dev)
    number = UInt64(info.st_ino)
  }
}

extension FileWriter {
  /// Opens the file for refused lines, which must be none of those that are read: it is emptied first.
  static func forRefusedLines(_ path: String, of inputs: [FileIdentity?]) throws -> FileWriter {
    if let identity = FileIdentity(path: path), inputs.contains(identity) {
      throw UsageError(
        "--refused: \(path) is itself read, and would be erased before: name another file")
    }
    return try FileWriter(creating: path)
  }
}
