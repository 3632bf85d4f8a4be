public import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A journal's directory on the disk.
public struct DirectoryStorage: JournalStorage {
  public let location: String

  /// Makes the directory if it is missing; the one above it must be there.
  public init(creating path: String) throws(SystemError) {
    location = path
    if unsafe mkdir(path, 0o750) == 0 {
      try Self.synchronize(directory: Self.parent(of: path))
    } else if errno != EEXIST {
      throw .last("mkdir", path)
    }
  }

  /// Names a directory that is there.
  public init(path: String) { location = path }

  public func lock() throws(SystemError) -> JournalLock<DirectoryFile> {
    let file = try open("lock", flags: O_RDWR | O_CREAT)
    guard FileLock.take(file.descriptor) else {
      guard errno == EWOULDBLOCK else { throw .last("flock", path("lock")) }
      return .busy(holder: Int32(String(decoding: try file.read(16, at: 0), as: UTF8.self)))
    }
    do {
      try file.truncate(to: 0)
      try file.write(Array(String(getpid()).utf8), at: 0)
    } catch {
      // The number only serves a message: a full disk is no reason not to read the journal.
      guard error.isDiskFull else { throw error }
    }
    return .held(file)
  }

  public func list() throws(SystemError) -> [String] {
    guard let directory = unsafe opendir(location) else { throw .last("opendir", location) }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  public func open(_ name: String, forWriting: Bool) throws(SystemError) -> DirectoryFile {
    try open(name, flags: forWriting ? O_RDWR : O_RDONLY)
  }

  public func create(_ name: String) throws(SystemError) -> DirectoryFile {
    try open(name, flags: O_RDWR | O_CREAT | O_TRUNC)
  }

  public func rename(_ name: String, to newName: String) throws(SystemError) {
    let (from, to) = (path(name), path(newName))
    #if canImport(Glibc)
      try SystemError.check("rename", from) { unsafe Glibc.rename(from, to) }
    #else
      try SystemError.check("rename", from) { unsafe Darwin.rename(from, to) }
    #endif
  }

  public func remove(_ name: String) throws(SystemError) {
    try SystemError.check("unlink", path(name)) { unsafe unlink(path(name)) }
  }

  public func synchronizeDirectory() throws(SystemError) {
    try Self.synchronize(directory: location)
  }

  private func path(_ name: String) -> String { location + "/" + name }

  private func open(_ name: String, flags: Int32) throws(SystemError) -> DirectoryFile {
    let path = path(name)
    return try DirectoryFile(path: path, flags: flags)
  }

  private static func synchronize(directory: String) throws(SystemError) {
    let file = try DirectoryFile(path: directory, flags: O_RDONLY | O_DIRECTORY)
    try SystemError.check("fsync", directory) { fsync(file.descriptor) }
  }

  private static func parent(of path: String) -> String {
    var trimmed = Substring(path)
    while trimmed.count > 1, trimmed.hasSuffix("/") { trimmed.removeLast() }
    guard let slash = trimmed.lastIndex(of: "/") else { return "." }
    return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
  }
}
