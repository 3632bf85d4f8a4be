#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// What the system tells of a process.
enum ProcessFiles {
  /// User and system seconds of a running process; 0 when it is not there.
  static func cpuSeconds(of id: Int32) -> Double {
    guard let file = unsafe fopen("/proc/\(id)/stat", "r") else { return 0 }
    defer { unsafe fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1024)
    let count = unsafe fread(&bytes, 1, bytes.count, file)
    // The name, in brackets, may hold blanks.
    let text = String(decoding: bytes.prefix(count), as: UTF8.self)
    guard let end = text.lastIndex(of: ")") else { return 0 }
    let fields = text[end...].split(separator: " ")
    guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else {
      return 0
    }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  static func pause(milliseconds: Int32) { _ = poll(nil, 0, milliseconds) }
}
