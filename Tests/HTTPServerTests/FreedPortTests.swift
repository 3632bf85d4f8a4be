internal import HTTPServer
internal import Testing

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

@Suite struct FreedPortTests {
  /// A child has a copy of every descriptor from its clone to its exec: whoever starts one while a
  /// server stops must not keep the port taken. A duplicate stands for that child here, so that the
  /// moment does not have to be met.
  @Test func `the port is free although a copy of its socket is still held`() throws {
    let server = try sampleServer()
    let copy = dup(try #require(Self.listener(on: server.port)))
    defer { close(copy) }
    server.stop()
    let next = try HTTPServer(port: server.port) { _ in .text("next") }
    #expect(next.port == server.port)
  }

  /// The descriptor of this process that listens on `port` of IPv4.
  private static func listener(on port: UInt16) -> Int32? {
    (3..<1_024).first { descriptor in
      var isListening: Int32 = 0
      var size = socklen_t(4)
      let result = unsafe getsockopt(
        descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size)
      return result == 0 && isListening == 1 && self.port(of: descriptor) == port
    }
  }

  private static func port(of descriptor: Int32) -> UInt16? {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(descriptor, $0, &size)
      }
    }
    guard result == 0, address.sin_family == sa_family_t(AF_INET) else { return nil }
    return UInt16(bigEndian: address.sin_port)
  }
}
