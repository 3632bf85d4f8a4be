internal import CMicroHTTPD
internal import Primitives
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// An HTTP/1.1 server with threads of its own.
///
/// Connections stay open between requests, and several requests may come one after another on one.
/// Without a TLS identity it speaks plainly: listen on 127.0.0.1 then, or behind something that does.
/// A client that is slow is cut by `limits.idleSeconds` and `limits.stepSeconds`.
public final class HTTPServer: Sendable {
  /// Gets a whole request, on a thread of the server, and sees to its answer: at once or later.
  public typealias Handler = @Sendable (HTTPRequest, HTTPResponder) -> Void

  /// The port listened on, also when 0 was asked for.
  public let port: UInt16
  private let limits: HTTPLimits
  private let service: HTTPService
  private let clock: Mutex<OwnedThread?>
  /// Nil once stopped. An address rather than a pointer, since pointers are not Sendable.
  private let daemon: Mutex<UInt?>

  /// Listens, and serves until `stop`.
  ///
  /// - Parameters:
  ///   - host: an address such as 127.0.0.1 or ::1, or a name that has one.
  ///   - port: 0 for one that is free.
  ///   - onFull: called with `limits.connections` when all of them are taken and others have to wait, at
  ///     most once a minute; on a thread that must not be held up.
  ///   - handler: called on `limits.threads` threads, one request at a time on each: while it runs,
  ///     nobody else is served by that thread. It must not call `stop`.
  public init(
    host: String = "127.0.0.1", port: UInt16 = 0, limits: HTTPLimits = HTTPLimits(),
    identity: TLSIdentity? = nil, onFull: @escaping @Sendable (Int) -> Void = { _ in },
    answering handler: @escaping Handler
  ) throws(HTTPServerError) {
    let listening = try ListeningSocket(host: host, port: port, backlog: 1024)
    self.port = listening.port
    self.limits = limits
    do throws(SystemError) {
      service = try HTTPService(
        limits: limits, isTLS: identity != nil, onFull: onFull, handler: handler)
      clock = Mutex(try service.clock.start())
    } catch {
      throw .system(error)
    }
    let started = unsafe Self.start(listening.release(), limits, identity, service)
    guard let started = unsafe started else {
      service.clock.stop()
      throw identity == nil ? .notStarted(host: host, port: port) : .identityRefused
    }
    daemon = Mutex(UInt(bitPattern: started))
  }

  /// The same for answers that are made at once.
  public convenience init(
    host: String = "127.0.0.1", port: UInt16 = 0, limits: HTTPLimits = HTTPLimits(),
    handler: @escaping HTTPRoutes.Handler
  ) throws(HTTPServerError) {
    try self.init(host: host, port: port, limits: limits, answering: { $1.answer(handler($0)) })
  }

  public convenience init(
    host: String = "127.0.0.1", port: UInt16 = 0, limits: HTTPLimits = HTTPLimits(),
    routes: HTTPRoutes
  ) throws(HTTPServerError) {
    try self.init(host: host, port: port, limits: limits) { routes.answer($0) }
  }

  deinit { stop() }

  public var counters: HTTPServerCounters { service.counters }

  /// Takes no more connections, lets requests under way end for `limits.drainMilliseconds`, cuts
  /// what is left and returns when the threads have ended. Again: does nothing.
  public func stop() {
    let taken = daemon.withLock { daemon in
      defer { daemon = nil }
      return daemon
    }
    guard let taken, let running = unsafe OpaquePointer(bitPattern: taken) else { return }
    service.beginDraining()
    let descriptor = unsafe MHD_quiesce_daemon(running)
    waitUntilIdle(milliseconds: limits.drainMilliseconds)
    service.wakeSleepers()
    // So that their answers leave.
    waitUntilIdle(milliseconds: 100)
    unsafe MHD_stop_daemon(running)
    service.clock.stop()
    clock.withLock { $0.take() }?.join()
    guard descriptor >= 0 else { return }
    // Closing alone frees the port only with the last copy, and a child being started has one until
    // its exec.
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }

  private func waitUntilIdle(milliseconds: Int) {
    let start = ContinuousClock.now
    while !service.isIdle {
      let elapsed = (ContinuousClock.now - start) / .milliseconds(1)
      let left = milliseconds - Int(elapsed)
      guard left > 0 else { return }
      var item = pollfd(fd: service.drained.descriptor, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&item, 1, Int32(left))
      service.drained.clear()
    }
  }

  /// When this fails libmicrohttpd has closed the descriptor or not, depending on where; a number that
  /// may belong to somebody else by now is better left open.
  private static func start(
    _ descriptor: Int32, _ limits: HTTPLimits, _ identity: TLSIdentity?, _ service: HTTPService
  ) -> OpaquePointer? {
    // libmicrohttpd reads both texts while it starts, as C does: to the first NUL.
    var certificate = (identity?.certificate ?? []) + [0]
    var key = (identity?.key ?? []) + [0]
    return unsafe certificate.withUnsafeMutableBytes { certificate in
      unsafe key.withUnsafeMutableBytes { key in
        var options = unsafe options(descriptor, limits, service)
        if identity != nil {
          unsafe options.append(
            MHD_OptionItem(
              option: .HTTPS_MEM_CERT, value: 0, ptr_value: certificate.baseAddress))
          unsafe options.append(
            MHD_OptionItem(option: .HTTPS_MEM_KEY, value: 0, ptr_value: key.baseAddress))
        }
        unsafe options.append(MHD_OptionItem(option: .END, value: 0, ptr_value: nil))
        let context = unsafe Unmanaged.passUnretained(service).toOpaque()
        return unsafe eb_start_daemon(
          flags(isTLS: identity != nil), handleRequest, context, &options)
      }
    }
  }

  private static func options(
    _ descriptor: Int32, _ limits: HTTPLimits, _ service: HTTPService
  ) -> [MHD_OptionItem] {
    let context = unsafe Unmanaged.passUnretained(service).toOpaque()
    let completed: MHD_RequestCompletedCallback = unsafe endRequest
    let connected: MHD_NotifyConnectionCallback = unsafe noteConnection
    var options = unsafe [
      MHD_OptionItem(option: .LISTEN_SOCKET, value: Int(descriptor), ptr_value: nil),
      MHD_OptionItem(option: .CONNECTION_LIMIT, value: limits.connections, ptr_value: nil),
      MHD_OptionItem(
        option: .PER_IP_CONNECTION_LIMIT, value: limits.connectionsPerAddress, ptr_value: nil),
      MHD_OptionItem(option: .CONNECTION_TIMEOUT, value: limits.idleSeconds, ptr_value: nil),
      MHD_OptionItem(option: .CONNECTION_MEMORY_LIMIT, value: limits.headBytes, ptr_value: nil),
      MHD_OptionItem(
        option: .NOTIFY_COMPLETED, value: unsafeBitCast(completed, to: Int.self),
        ptr_value: context),
      MHD_OptionItem(
        option: .NOTIFY_CONNECTION, value: unsafeBitCast(connected, to: Int.self),
        ptr_value: context),
    ]
    if limits.threads > 1 {
      unsafe options.append(
        MHD_OptionItem(option: .THREAD_POOL_SIZE, value: limits.threads, ptr_value: nil))
    }
    return unsafe options
  }

  private static func flags(isTLS: Bool) -> UInt32 {
    // Not MHD_USE_ERROR_LOG: it would write to standard error what any client can provoke.
    // poll, not epoll: at its connection limit the daemon stops to look at the listening socket, and
    // with edge-triggered events it stayed deaf when connections were free again.
    UInt32(
      MHD_USE_POLL.rawValue | MHD_USE_INTERNAL_POLLING_THREAD.rawValue | MHD_USE_ITC.rawValue
        | MHD_ALLOW_SUSPEND_RESUME.rawValue | (isTLS ? MHD_USE_TLS.rawValue : 0))
  }
}
