import Primitives
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Who listens on a port of this machine, for a message to whom it is in the way.
enum PortHolder {
  /// `process 4711 (eventbus broker)`; nil where the system does not say (other than Linux), or the process is
  /// another user's.
  static func describe(port: UInt16) -> String? {
    let sockets = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { path in
      listeners(in: ProcFile.text(path, limit: 4 << 20) ?? "", port: port)
    }
    guard !sockets.isEmpty else { return nil }
    let wanted = Set(sockets.map { "socket:[\($0)]" })
    for process in names(in: "/proc") {
      guard let id = Int32(process), hasOpen(wanted, process) else { continue }
      let words = (ProcFile.text("/proc/\(process)/cmdline") ?? "").split(separator: "\0")
      let program = words.first?.split(separator: "/").last.map(String.init) ?? "?"
      let text = ([program] + words.dropFirst().prefix(1).map(String.init)).joined(separator: " ")
      return "process \(id) (\(TerminalText.escape(text)))"
    }
    return nil
  }

  /// The inodes of the sockets that listen on the port. A line of the table is
  /// `0: 0100007F:1CE8 00000000:0000 0A ... inode`, 0A for listening, the inode the tenth word.
  static func listeners(in table: String, port: UInt16) -> [Substring] {
    let hexadecimal = String(port, radix: 16, uppercase: true)
    let end = ":" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
    return table.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count > 9, words[1].hasSuffix(end), words[3] == "0A" else { return nil }
      return words[9]
    }
  }

  private static func hasOpen(_ wanted: Set<String>, _ process: String) -> Bool {
    let folder = "/proc/\(process)/fd"
    return names(in: folder).contains { name in
      var target = [CChar](repeating: 0, count: 64)
      let count = unsafe readlink("\(folder)/\(name)", &target, target.count)
      guard count > 0 else { return false }
      let bytes = target.prefix(count).map(UInt8.init(bitPattern:))
      return wanted.contains(String(decoding: bytes, as: UTF8.self))
    }
  }

  private static func names(in path: String) -> [String] {
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.utf8.first.map({ (0x30...0x39).contains($0) }) ?? false { names.append(name) }
    }
    return names
  }
}
