#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Small files with secrets in them: for their owner's eyes alone, and replaced as a whole.
public enum PrivateFile {
  public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    case system(SystemError)
    /// Others may read or write it.
    case open(path: String, mode: UInt32)
    case tooLarge(path: String, limit: Int)
    /// It is there already, and was not to be replaced.
    case exists(path: String)

    public var description: String {
      switch self {
      case .system(let error): return error.description
      case .open(let path, let mode):
        let octal = String(mode, radix: 8)
        return "\(path) is open to others (mode \(octal)): chmod 600 \(path)"
      case .tooLarge(let path, let limit): return "\(path) is larger than \(limit) bytes"
      case .exists(let path): return "\(path) is there already"
      }
    }

    /// Whether the file is not there.
    public var isMissing: Bool {
      if case .system(let error) = self { error.code == ENOENT } else { false }
    }
  }

  /// Reads a file that only its owner may read. What is checked is what is read: one open file.
  ///
  /// - Parameter isSecret: false for one that anybody may read.
  public static func read(
    _ path: String, limit: Int = 1 << 20, isSecret: Bool = true
  ) throws(Failure) -> [UInt8] {
    let file: Int32
    do throws(SystemError) {
      file = try SystemError.check("open", path) { unsafe open(path, O_RDONLY | O_CLOEXEC) }
    } catch { throw .system(error) }
    defer { close(file) }
    var info = stat()
    do throws(SystemError) {
      try SystemError.check("fstat", path) { unsafe fstat(file, &info) }
    } catch { throw .system(error) }
    // Told apart first: nobody is to `chmod 600` a directory.
    guard info.st_mode & S_IFMT != S_IFDIR else {
      throw .system(SystemError(call: "read", code: EISDIR, subject: path))
    }
    let mode = UInt32(info.st_mode) & 0o777
    guard !isSecret || mode & 0o077 == 0 else { throw .open(path: path, mode: mode) }
    guard info.st_size <= limit else { throw .tooLarge(path: path, limit: limit) }
    do throws(SystemError) { return try readAll(file, path, upTo: limit) } catch {
      throw .system(error)
    }
  }

  private static func readAll(
    _ file: Int32, _ path: String, upTo limit: Int
  ) throws(SystemError) -> [UInt8] {
    // One buffer of the final size: a growing one would leave copies of a secret behind.
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var count = 0
    while count <= limit {
      let some = try SystemError.check("read", path) {
        unsafe bytes.withUnsafeMutableBytes { buffer in
          unsafe systemRead(file, buffer.baseAddress! + count, buffer.count - count)
        }
      }
      if some == 0 { break }
      count += some
    }
    bytes.removeLast(bytes.count - min(count, limit))
    return bytes
  }

  /// Writes a file of mode `mode` as a whole: a reader sees the old or the new one, and after a crash one
  /// of them is there.
  ///
  /// - Parameter replacing: whether a file of that name may be replaced.
  public static func write(
    _ bytes: [UInt8], to path: String, mode: UInt32 = 0o600, replacing: Bool = true
  ) throws(Failure) {
    let temporary = "\(path).new-\(getpid())"
    do throws(SystemError) {
      _ = unsafe unlink(temporary)
      try writeAll(bytes, temporary, mode)
      if replacing {
        try rename(temporary, path)
      } else {
        // Unlike a rename, a link fails where something is.
        try SystemError.check("link", path) { unsafe link(temporary, path) }
        _ = unsafe unlink(temporary)
      }
      try syncFolder(of: path)
    } catch {
      _ = unsafe unlink(temporary)
      if error.code == EEXIST { throw .exists(path: path) }
      throw .system(error)
    }
  }

  private static func writeAll(_ bytes: [UInt8], _ path: String, _ mode: UInt32) throws(SystemError)
  {
    let file = try SystemError.check("open", path) {
      unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(mode))
    }
    defer { close(file) }
    // Whatever the umask says.
    try SystemError.check("fchmod", path) { fchmod(file, mode_t(mode)) }
    var written = 0
    while written < bytes.count {
      written += try SystemError.check("write", path) {
        unsafe bytes.withUnsafeBytes { buffer in
          unsafe systemWrite(file, buffer.baseAddress! + written, buffer.count - written)
        }
      }
    }
    try SystemError.check("fsync", path) { fsync(file) }
  }

  private static func rename(_ from: String, _ to: String) throws(SystemError) {
    #if canImport(Glibc)
      try SystemError.check("rename", to) { unsafe Glibc.rename(from, to) }
    #else
      try SystemError.check("rename", to) { unsafe Darwin.rename(from, to) }
    #endif
  }

  private static func syncFolder(of path: String) throws(SystemError) {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let file = try SystemError.check("open", folder) { unsafe open(folder, O_RDONLY | O_CLOEXEC) }
    defer { close(file) }
    try SystemError.check("fsync", folder) { fsync(file) }
  }
}

extension [UInt8] {
  /// Overwrites the bytes in a way that no optimiser leaves out: for secrets that were copied. Only the
  /// array's own storage: keep no second one.
  public mutating func wipe() {
    unsafe withUnsafeMutableBytes { buffer in
      guard let start = buffer.baseAddress else { return }
      unsafe wipeMemory(start, buffer.count)
    }
  }
}

/// The same for memory of one's own.
public func wipeMemory(_ start: UnsafeMutableRawPointer, _ count: Int) {
  #if canImport(Glibc)
    unsafe explicit_bzero(start, count)
  #else
    unsafe memset_s(start, count, 0, count)
  #endif
}

// Inside the type its own `read` and `write` hide the system's.
private func systemRead(_ file: Int32, _ start: UnsafeMutableRawPointer, _ count: Int) -> Int {
  unsafe read(file, start, count)
}

private func systemWrite(_ file: Int32, _ start: UnsafeRawPointer, _ count: Int) -> Int {
  unsafe write(file, start, count)
}
