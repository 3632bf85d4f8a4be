internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A TCP socket of a pretended server; closed with its last reference.
final class StubSocket: Sendable {
  let descriptor: Int32

  init(_ descriptor: Int32) { self.descriptor = descriptor }
  deinit { close(descriptor) }

  static func listening(port: UInt16) throws(SystemError) -> StubSocket {
    let socket = StubSocket(
      try SystemError.check("socket") { Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) })
    let descriptor = socket.descriptor
    try SystemError.check("fcntl") { fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    var yes: Int32 = 1
    try SystemError.check("setsockopt") {
      unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
    try SystemError.check("bind") {
      unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
          unsafe bind(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    }
    try SystemError.check("listen") { listen(descriptor, 64) }
    return socket
  }

  func port() throws(SystemError) -> UInt16 {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    try SystemError.check("getsockname") {
      unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
          unsafe getsockname(descriptor, generic, &length)
        }
      }
    }
    return UInt16(bigEndian: address.sin_port)
  }

  /// The next connection; nil when the socket was shut down.
  func accept() -> StubSocket? {
    while true {
      let accepted = Glibc.accept(descriptor, nil, nil)
      if accepted >= 0 {
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        var yes: Int32 = 1
        unsafe setsockopt(accepted, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, 4)
        return StubSocket(accepted)
      }
      if errno != EINTR { return nil }
    }
  }

  func shutDown() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Some bytes; none at the end, or when the connection broke.
  func receive(into buffer: inout [UInt8]) -> Int {
    while true {
      let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      if count >= 0 { return count }
      if errno != EINTR { return 0 }
    }
  }

  /// False when the connection broke.
  func send(_ bytes: ArraySlice<UInt8>) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let sent = unsafe rest.withUnsafeBytes {
        unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if sent < 0 {
        if errno == EINTR { continue }
        return false
      }
      rest = rest.dropFirst(sent)
    }
    return true
  }

  /// From now on closing sends a reset instead of an orderly end.
  func resetOnClose() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &linger,
      socklen_t(MemoryLayout.size(ofValue: linger)))
  }

  /// Waits; false when the peer or `stop` ended the connection meanwhile.
  func pause(milliseconds: Int) -> Bool {
    let deadline = SystemClock.monotonic() + Int64(milliseconds) * 1_000_000
    while true {
      let left = (deadline - SystemClock.monotonic()) / 1_000_000
      guard left > 0 else { return true }
      var item = pollfd(fd: descriptor, events: 0, revents: 0)
      let result = unsafe poll(&item, 1, Int32(left))
      if result > 0 { return false }
    }
  }
}
