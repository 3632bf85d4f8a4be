internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The few calls on files and folders that the archive needs, each through the one funnel.
enum FileSystem {
  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// The same where it matters: what this user may not see is not taken for missing.
  static func isThere(_ path: String) throws(ArchiveError) -> Bool {
    do throws(SystemError) { return try Folders.isThere(path) } catch {
      throw ArchiveError(.other, "\(error): run it as the user who owns it")
    }
  }

  /// What tells one file from another that later has its name.
  struct Identity: Hashable, Sendable {
    var device: UInt64
    var number: UInt64
  }

  /// - Throws: when nothing is there.
  static func identity(_ path: String) throws(SystemError) -> Identity {
    let status = try status(path)
    return Identity(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
  }

  static func identityIfThere(_ path: String) -> Identity? {
    do throws(SystemError) { return try identity(path) } catch { return nil }
  }

  static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Bytes of a file.
  static func size(_ path: String) throws(SystemError) -> UInt64 {
    UInt64(clamping: try status(path).st_size)
  }

  private static func status(_ path: String) throws(SystemError) -> stat {
    var status = stat()
    try SystemError.check("stat", path) { unsafe stat(path, &status) }
    return status
  }

  /// Makes one folder; false when it is there.
  @discardableResult
  static func makeFolder(_ path: String) throws(SystemError) -> Bool {
    if unsafe mkdir(path, 0o750) == 0 { return true }
    guard errno == EEXIST else { throw .last("mkdir", path) }
    return false
  }

  static func list(_ path: String) throws(SystemError) -> [String] {
    guard let folder = unsafe opendir(path) else { throw .last("opendir", path) }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  /// All files below a folder, with their paths from it, eight folders deep: links may form a ring.
  /// Folders that vanish meanwhile have none.
  static func filesBelow(_ folder: String) throws(SystemError) -> [String] {
    var files: [String] = []
    var open = [""]
    while let below = open.popLast() {
      for name in try names(folder + "/" + below, mayBeAbsent: !below.isEmpty) {
        let path = below.isEmpty ? name : below + "/" + name
        guard isFolder(folder + "/" + path) else {
          files.append(path)
          continue
        }
        if path.utf8.count(where: { $0 == UInt8(ascii: "/") }) < 8 { open.append(path) }
      }
    }
    return files
  }

  private static func names(
    _ folder: String, mayBeAbsent: Bool
  ) throws(SystemError) -> [String] {
    do throws(SystemError) {
      return try list(folder)
    } catch {
      if mayBeAbsent, error.code == SystemCode.absent { return [] }
      throw error
    }
  }

  static func move(_ from: String, to: String) throws(SystemError) {
    #if canImport(Glibc)
      try SystemError.check("rename", from) { unsafe Glibc.rename(from, to) }
    #else
      try SystemError.check("rename", from) { unsafe Darwin.rename(from, to) }
    #endif
  }

  static func remove(_ path: String) throws(SystemError) {
    try SystemError.check("unlink", path) { unsafe unlink(path) }
  }

  /// Makes durable which names a folder has.
  static func synchronize(folder: String) throws(SystemError) {
    let descriptor = try SystemError.check("open", folder) {
      unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .last("fsync", folder) }
  }

  /// Bytes that the file system of `path` has left for us.
  static func available(_ path: String) throws(SystemError) -> UInt64 {
    var info = statvfs()
    try SystemError.check("statvfs", path) { unsafe statvfs(path, &info) }
    return UInt64(info.f_bavail) * UInt64(info.f_frsize)
  }
}
