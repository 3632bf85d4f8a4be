public import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A file of a ``DirectoryStorage``. Reads and writes name their position, so threads share it.
public final class DirectoryFile: JournalFile {
  let descriptor: Int32
  private let path: String

  init(path: String, flags: Int32) throws(SystemError) {
    self.path = path
    descriptor = try SystemError.check("open", path) {
      // Connections of others must not keep the journal from its next file.
      FileReserve.open(path, flags | O_CLOEXEC, 0o640)
    }
  }

  deinit { close(descriptor) }

  public func size() throws(SystemError) -> Int { Int(try status().st_size) }

  public func hasName() throws(SystemError) -> Bool { try status().st_nlink > 0 }

  func status() throws(SystemError) -> stat {
    var status = stat()
    try SystemError.check("fstat", path) { unsafe fstat(descriptor, &status) }
    return status
  }

  public func read(_ count: Int, at position: Int) throws(SystemError) -> [UInt8] {
    var failure: SystemError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      guard let base = UnsafeMutableRawPointer(buffer.baseAddress) else { return }
      while filled < count {
        let got = unsafe pread(descriptor, base + filled, count - filled, position + filled)
        if got == 0 { return }
        if got > 0 {
          filled += got
        } else if errno != EINTR {
          failure = .last("pread", path)
          return
        }
      }
    }
    if let failure { throw failure }
    return bytes
  }

  public func write(_ bytes: RawSpan, at position: Int) throws(SystemError) {
    var written = 0
    while written < bytes.byteCount {
      written += try SystemError.check("pwrite", path) {
        unsafe bytes.withUnsafeBytes { buffer in
          guard let base = buffer.baseAddress else { return 0 }
          return unsafe pwrite(
            descriptor, base + written, bytes.byteCount - written, position + written)
        }
      }
    }
  }

  public func truncate(to size: Int) throws(SystemError) {
    try SystemError.check("ftruncate", path) { ftruncate(descriptor, size) }
  }

  public func synchronize() throws(SystemError) {
    // Not through the funnel: a sync is never repeated, not even after a signal.
    #if canImport(Glibc)
      if fdatasync(descriptor) != 0 { throw .last("fdatasync", path) }
    #else
      // A plain fsync leaves the data in the drive's cache there.
      if fcntl(descriptor, F_FULLFSYNC) != 0 { throw .last("fcntl(F_FULLFSYNC)", path) }
    #endif
  }
}
