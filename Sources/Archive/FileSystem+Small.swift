internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Small files that are read and written whole.
extension FileSystem {
  /// The first `limit` bytes of a file.
  static func contents(_ path: String, limit: Int) throws(SystemError) -> [UInt8] {
    let descriptor = try SystemError.check("open", path) {
      unsafe open(path, O_RDONLY | O_CLOEXEC)
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    while bytes.count < limit {
      var chunk = [UInt8](repeating: 0, count: min(4096, limit - bytes.count))
      let wanted = chunk.count
      let count = try SystemError.check("read", path) {
        unsafe read(descriptor, &chunk, wanted)
      }
      guard count > 0 else { break }
      bytes += chunk[..<count]
    }
    return bytes
  }

  /// Puts a file in the place of another of that name, or of none, so that after a crash one of the two
  /// is there whole.
  static func replace(
    _ folder: String, _ name: String, with bytes: [UInt8]
  ) throws(SystemError) {
    let path = "\(folder)/\(name)"
    let temporary = "\(folder)/.\(name).new"
    try write(temporary, bytes)
    try move(temporary, to: path)
    try synchronize(folder: folder)
  }

  private static func write(_ path: String, _ bytes: [UInt8]) throws(SystemError) {
    let descriptor = try SystemError.check("open", path) {
      unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o640)
    }
    defer { close(descriptor) }
    var at = 0
    while at < bytes.count {
      let rest = Array(bytes[at...])
      at += try SystemError.check("write", path) {
        #if canImport(Glibc)
          unsafe Glibc.write(descriptor, rest, rest.count)
        #else
          unsafe Darwin.write(descriptor, rest, rest.count)
        #endif
      }
    }
    try SystemError.check("fsync", path) { fsync(descriptor) }
  }
}
