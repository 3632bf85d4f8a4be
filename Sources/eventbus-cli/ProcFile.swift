#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Files of a few lines, such as those of /proc.
enum ProcFile {
  /// At most 64 KiB of it; nil when it cannot be read.
  static func text(_ path: String) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
  }
}
