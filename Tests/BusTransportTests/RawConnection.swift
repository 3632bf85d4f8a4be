internal import Testing

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A TCP connection that does not speak ZeroMQ's protocol.
final class RawConnection {
  private let descriptor: Int32

  /// - Parameter address: as in `tcp://127.0.0.1:7400`.
  init(to address: String) throws {
    let port = try #require(address.split(separator: ":").last.flatMap { UInt16($0) })
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = port.bigEndian
    name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    #if canImport(Glibc)
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    let connected = unsafe withUnsafePointer(to: &name) { name in
      unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        unsafe connect(descriptor, name, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(connected == 0)
  }

  deinit { close(descriptor) }

  func send(_ text: String) { _ = unsafe write(descriptor, text, text.utf8.count) }

  /// Reads until the peer closes; false when it fails otherwise.
  var isClosedByPeer: Bool {
    var buffer = [UInt8](repeating: 0, count: 1000)
    while true {
      let count = unsafe read(descriptor, &buffer, buffer.count)
      if count == 0 || (count < 0 && errno == ECONNRESET) { return true }
      if count < 0 && errno != EINTR { return false }
    }
  }
}
