// `aggregator.lock`: held by `flock`, so a process that dies lets go. It holds the pid, for messages.
internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The right to write an aggregator's file, until this goes.
struct DirectoryLock: ~Copyable {
  private let descriptor: Int32

  /// Makes the directory and those above it if need be. Waits for another holder as long as `FileLock` does.
  init(_ directory: String) throws(AggregatorError) {
    do throws(SystemError) { try Folders.make(directory) } catch {
      throw .system(text: "\(error): give --data a directory that can be written")
    }
    let path = "\(directory)/aggregator.lock"
    let opened = unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o640)
    guard opened >= 0 else { throw .system(text: SystemError.last("open", path).description) }
    guard FileLock.take(opened) else {
      var bytes = [UInt8](repeating: 0, count: 20)
      let count = unsafe pread(opened, &bytes, bytes.count, 0)
      close(opened)
      let holder = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
      throw .inUse(path: directory, holder: "process \(holder): stop it, or take another --data")
    }
    descriptor = opened
    let text = Array("\(getpid())".utf8)
    // On a full disk the lock holds without it.
    _ = ftruncate(opened, 0)
    _ = unsafe pwrite(opened, text, text.count, 0)
  }

  deinit { close(descriptor) }
}

/// A file that people change while the service runs.
struct WatchedFile {
  let path: String
  /// Nil before the first look; then what was seen, which may be no file.
  private var seen: FileStamp??

  init(_ path: String) { self.path = path }

  /// The file's bytes when it is another than at the last call; nil when it is not.
  /// - Throws: when it cannot be read, once for each such state.
  mutating func readIfChanged() throws(SystemError) -> [UInt8]? {
    let stamp = FileStamp(path)
    guard seen != .some(stamp) else { return nil }
    seen = .some(stamp)
    let descriptor = try SystemError.check("open", path) {
      unsafe open(path, O_RDONLY | O_CLOEXEC)
    }
    defer { close(descriptor) }
    // A megabyte is thousands of reports; more is refused by the parser as cut off.
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    var count = 0
    while count < bytes.count {
      let more = try SystemError.check("read", path) {
        unsafe bytes.withUnsafeMutableBytes { buffer in
          unsafe read(descriptor, buffer.baseAddress! + count, buffer.count - count)
        }
      }
      if more == 0 { break }
      count += Int(more)
    }
    return Array(bytes[..<count])
  }
}
