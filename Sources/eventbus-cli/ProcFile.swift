#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Files such as those of /proc.
enum ProcFile {
  /// At most `limit` bytes of it; nil when it cannot be read.
  static func text(_ path: String, limit: Int = 65_536) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: min(limit, 65_536))
    while bytes.count < limit {
      let count = unsafe read(descriptor, &buffer, min(buffer.count, limit - bytes.count))
      guard count >= 0 else { return nil }
      if count == 0 { break }
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
