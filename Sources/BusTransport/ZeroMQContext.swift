internal import CZeroMQ

/// libzmq's context: its I/O threads and all sockets made from it. One a process; safe to share.
///
/// Every socket holds its context, so the context ends after the last of them. Its end waits until all
/// sockets have passed their linger, which is why sockets set theirs at creation.
@safe public final class ZeroMQContext: @unchecked Sendable {
  // libzmq documents contexts as thread-safe; the pointer is written once.
  let handle: UnsafeMutableRawPointer

  /// - Parameter ioThreads: one moves about a gigabyte a second.
  public init(ioThreads: Int32 = 1, maximumSockets: Int32 = 4096) throws(TransportError) {
    guard let handle = unsafe zmq_ctx_new() else { throw TransportError.last("zmq_ctx_new") }
    unsafe self.handle = handle
    try check("zmq_ctx_set io_threads") { unsafe zmq_ctx_set(handle, ZMQ_IO_THREADS, ioThreads) }
    try check("zmq_ctx_set max_sockets") {
      unsafe zmq_ctx_set(handle, ZMQ_MAX_SOCKETS, maximumSockets)
    }
  }

  /// Makes every call on its sockets fail with `.terminated`, from any thread: how blocked owners are
  /// told to leave.
  public func shutdown() { _ = unsafe zmq_ctx_shutdown(handle) }

  deinit {
    while unsafe zmq_ctx_term(handle) != 0, zmq_errno() == EINTR {}
  }
}
