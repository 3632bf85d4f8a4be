internal import CMicroHTTPD
internal import Primitives
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// An HTTP/1.1 server with one thread of its own, for small answers that are made at once.
///
/// Connections stay open between requests. Without TLS and without authentication: listen on
/// 127.0.0.1, or behind something that has them. A client that sends slowly but steadily keeps its
/// connection; it takes one of `limits.connections` and no more.
public final class HTTPServer: Sendable {
  /// The port listened on, also when 0 was asked for.
  public let port: UInt16
  private let limits: HTTPLimits
  private let service: HTTPService
  /// Nil once stopped. An address rather than a pointer, since pointers are not Sendable.
  private let daemon: Mutex<UInt?>

  /// Listens, and serves until `stop`.
  ///
  /// - Parameters:
  ///   - host: an address such as 127.0.0.1 or ::1, or a name that has one.
  ///   - port: 0 for one that is free.
  ///   - handler: called on the server's thread, one request at a time. It must not call `stop`.
  public init(
    host: String = "127.0.0.1", port: UInt16 = 0, limits: HTTPLimits = HTTPLimits(),
    handler: @escaping HTTPRoutes.Handler
  ) throws(HTTPServerError) {
    let listening = try ListeningSocket(host: host, port: port, backlog: 128)
    self.port = listening.port
    self.limits = limits
    do throws(SystemError) {
      service = try HTTPService(limits: limits, handler: handler)
    } catch {
      throw .system(error)
    }
    let started = unsafe Self.start(listening.release(), limits, service)
    guard let started = unsafe started else { throw .notStarted(host: host, port: port) }
    daemon = Mutex(UInt(bitPattern: started))
  }

  public convenience init(
    host: String = "127.0.0.1", port: UInt16 = 0, limits: HTTPLimits = HTTPLimits(),
    routes: HTTPRoutes
  ) throws(HTTPServerError) {
    try self.init(host: host, port: port, limits: limits) { routes.answer($0) }
  }

  deinit { stop() }

  /// Takes no more connections, lets requests under way end for `limits.drainMilliseconds`, cuts
  /// what is left and returns when the thread has ended. Again: does nothing.
  public func stop() {
    let taken = daemon.withLock { daemon in
      defer { daemon = nil }
      return daemon
    }
    guard let taken, let running = unsafe OpaquePointer(bitPattern: taken) else { return }
    service.beginDraining()
    let descriptor = unsafe MHD_quiesce_daemon(running)
    waitUntilIdle()
    unsafe MHD_stop_daemon(running)
    guard descriptor >= 0 else { return }
    // Closing alone frees the port only with the last copy, and a child being started has one until
    // its exec.
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }

  private func waitUntilIdle() {
    let start = ContinuousClock.now
    while !service.isIdle {
      let elapsed = (ContinuousClock.now - start) / .milliseconds(1)
      let left = limits.drainMilliseconds - Int(elapsed)
      guard left > 0 else { return }
      var item = pollfd(fd: service.drained.descriptor, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&item, 1, Int32(left))
      service.drained.clear()
    }
  }

  /// When this fails libmicrohttpd has closed the descriptor or not, depending on where; a number that
  /// may belong to somebody else by now is better left open.
  private static func start(
    _ descriptor: Int32, _ limits: HTTPLimits, _ service: HTTPService
  ) -> OpaquePointer? {
    let context = unsafe Unmanaged.passUnretained(service).toOpaque()
    let completed: MHD_RequestCompletedCallback = unsafe endRequest
    var options = unsafe [
      MHD_OptionItem(option: .LISTEN_SOCKET, value: Int(descriptor), ptr_value: nil),
      MHD_OptionItem(option: .CONNECTION_LIMIT, value: limits.connections, ptr_value: nil),
      MHD_OptionItem(option: .CONNECTION_TIMEOUT, value: limits.idleSeconds, ptr_value: nil),
      MHD_OptionItem(option: .CONNECTION_MEMORY_LIMIT, value: limits.headBytes, ptr_value: nil),
      MHD_OptionItem(
        option: .NOTIFY_COMPLETED, value: unsafeBitCast(completed, to: Int.self),
        ptr_value: context),
      MHD_OptionItem(option: .END, value: 0, ptr_value: nil),
    ]
    // Not MHD_USE_ERROR_LOG: it would write to standard error what any client can provoke.
    // poll, not epoll: at its connection limit the daemon stops to look at the listening socket, and
    // with edge-triggered events it stayed deaf when connections were free again.
    let flags =
      MHD_USE_POLL.rawValue | MHD_USE_INTERNAL_POLLING_THREAD.rawValue | MHD_USE_ITC.rawValue
    return unsafe eb_start_daemon(UInt32(flags), handleRequest, context, &options)
  }
}
