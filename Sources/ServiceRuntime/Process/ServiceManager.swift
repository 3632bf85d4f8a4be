public import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Tells the service manager that started this process (systemd, `Type=notify`) how it is.
///
/// The protocol is one datagram of `KEY=value` lines to the socket that `NOTIFY_SOCKET` names: a
/// path, or `@name` for an abstract socket of Linux. Without the variable, nothing happens.
public struct ServiceManager: Sendable {
  private let address: String?

  public init(environment: [String: String]) {
    address = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
  }

  public func ready(status: String = "") throws(SystemError) {
    try send(status.isEmpty ? "READY=1" : "READY=1\nSTATUS=" + TerminalText.escape(status))
  }

  public func stopping() throws(SystemError) { try send("STOPPING=1") }

  private func send(_ message: String) throws(SystemError) {
    guard let address else { return }
    var target = sockaddr_un()
    target.sun_family = sa_family_t(AF_UNIX)
    var path = Array(address.utf8)
    let room = MemoryLayout.size(ofValue: target.sun_path)
    guard path.count < room else {
      throw SystemError(call: "sendto", code: ENAMETOOLONG, subject: address)
    }
    // An abstract name begins with NUL and has no NUL at its end.
    let isAbstract = path[0] == UInt8(ascii: "@")
    if isAbstract { path[0] = 0 }
    unsafe withUnsafeMutableBytes(of: &target.sun_path) { unsafe $0.copyBytes(from: path) }
    let prefix = MemoryLayout<sockaddr_un>.size - room
    let length = socklen_t(prefix + path.count + (isAbstract ? 0 : 1))

    #if canImport(Glibc)
      let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    #else
      let kind = SOCK_DGRAM
    #endif
    let descriptor = try SystemError.check("socket") { socket(AF_UNIX, kind, 0) }
    defer { close(descriptor) }
    try SystemError.check("sendto", address) {
      unsafe withUnsafePointer(to: target) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          unsafe sendto(descriptor, message, message.utf8.count, 0, address, length)
        }
      }
    }
  }
}
