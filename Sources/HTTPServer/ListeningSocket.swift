internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Made here and not by libmicrohttpd, since that does not tell why it failed.
struct ListeningSocket: ~Copyable {
  let descriptor: Int32
  let port: UInt16

  init(host: String, port: UInt16, backlog: Int32) throws(HTTPServerError) {
    let descriptor = try Self.bound(host: host, port: port)
    do throws(SystemError) {
      // libmicrohttpd accepts until the queue is empty: it must not block there.
      let flags = try SystemError.check("fcntl") { fcntl(descriptor, F_GETFL) }
      try SystemError.check("fcntl") { fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) }
      try SystemError.check("listen") { listen(descriptor, backlog) }
      self.port = try Self.port(of: descriptor)
      self.descriptor = descriptor
    } catch {
      close(descriptor)
      throw Self.refusal(error, host: host, port: port)
    }
  }

  deinit { close(descriptor) }

  /// The descriptor, which the caller must close from now on.
  consuming func release() -> Int32 {
    let descriptor = descriptor
    discard self
    return descriptor
  }

  /// A socket on the first address of the host that can be bound.
  private static func bound(host: String, port: UInt16) throws(HTTPServerError) -> Int32 {
    var hints = unsafe addrinfo()
    unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let result = unsafe getaddrinfo(host, String(port), &hints, &found)
    guard result == 0, let first = unsafe found else {
      throw .badAddress(host: host, reason: unsafe String(cString: gai_strerror(result)))
    }
    defer { unsafe freeaddrinfo(first) }
    var failure = SystemError(call: "bind", code: EADDRNOTAVAIL)
    var next: UnsafeMutablePointer<addrinfo>? = unsafe first
    while let candidate = unsafe next {
      do throws(SystemError) {
        return try unsafe open(candidate.pointee)
      } catch {
        failure = error
      }
      unsafe next = candidate.pointee.ai_next
    }
    throw refusal(failure, host: host, port: port)
  }

  private static func open(_ address: addrinfo) throws(SystemError) -> Int32 {
    let descriptor = try SystemError.check("socket") {
      unsafe socket(address.ai_family, address.ai_socktype, 0)
    }
    do throws(SystemError) {
      try SystemError.check("fcntl") { fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
      // Without it a restart fails while old connections linger in TIME_WAIT.
      var yes: Int32 = 1
      try SystemError.check("setsockopt") {
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
      }
      try SystemError.check("bind") {
        unsafe bind(descriptor, address.ai_addr, address.ai_addrlen)
      }
      return descriptor
    } catch {
      close(descriptor)
      throw error
    }
  }

  /// The port that the kernel chose when 0 was asked for.
  private static func port(of descriptor: Int32) throws(SystemError) -> UInt16 {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    try SystemError.check("getsockname") {
      unsafe withUnsafeMutablePointer(to: &storage) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          unsafe getsockname(descriptor, address, &length)
        }
      }
    }
    // IPv4 and IPv6 addresses both keep the port, big endian, at byte 2.
    return unsafe withUnsafeBytes(of: &storage) { bytes in
      unsafe UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
    }
  }

  private static func refusal(
    _ error: SystemError, host: String, port: UInt16
  ) -> HTTPServerError {
    switch error.code {
    case EADDRINUSE: .addressInUse(host: host, port: port)
    case EACCES: .notPermitted(host: host, port: port)
    case EADDRNOTAVAIL: .badAddress(host: host, reason: "no interface has this address")
    default: .system(error)
    }
  }
}
