internal import CMicroHTTPD
internal import Primitives
internal import Synchronization

/// An answer that goes on: the server's side of one client that listens, as with Server-Sent Events.
///
/// Each message replaces the one before, as snapshots do: a client gets each whole, and one that is slow
/// is skipped ahead to the newest (`HTTPServerCounters.messagesSkipped`). So a stream holds two messages
/// at most, the one under way and the next. A client that does not take a message within
/// `HTTPLimits.stepSeconds` is cut. Any thread.
public final class HTTPStream: Sendable {
  private struct State {
    var current: [UInt8] = []
    /// What of `current` has gone.
    var sent = 0
    var next: [UInt8]?
    /// The connection while it sleeps for want of a message. An address: pointers are not Sendable.
    var sleeping: UInt?
    var isEnding = false
    var isClosed = false
    var lastTaken = SystemClock.monotonic()
  }

  private let state = Mutex(State())
  private let clock: ConnectionClock
  private let descriptor: Int32
  /// The connection, which lives until `close`.
  private let connection: UInt
  private let limit: Int

  init(
    connection: UInt, descriptor: Int32, clock: ConnectionClock, limit: Int
  ) {
    self.connection = connection
    self.descriptor = descriptor
    self.clock = clock
    self.limit = limit
  }

  /// Gives the client a message when it has taken the one before. One that is larger than
  /// `HTTPLimits.streamMessageBytes` is not sent, and counted as skipped.
  public func send(_ message: [UInt8]) {
    guard !message.isEmpty else { return }
    let isSkipped = state.withLock { state in
      guard !state.isClosed, !state.isEnding else { return false }
      guard message.count <= limit else { return true }
      let isReplaced = state.next != nil
      state.next = message
      wake(&state)
      return isReplaced
    }
    if isSkipped { clock.count { $0.messagesSkipped += 1 } }
  }

  /// Ends the answer behind what was sent. Again: does nothing.
  public func end() {
    state.withLock { state in
      state.isEnding = true
      wake(&state)
    }
  }

  /// False once it was ended, or the client was seen to be gone.
  public var isOpen: Bool { state.withLock { !$0.isClosed && !$0.isEnding } }

  /// A comment, when nothing went for so long: without it nobody would see that the other is gone.
  func beat(_ now: Int64, after nanoseconds: Int64) {
    state.withLock { state in
      guard state.sleeping != nil, now - state.lastTaken >= nanoseconds else { return }
      state.next = Array(":\n\n".utf8)
      wake(&state)
    }
  }

  /// The connection is done with it.
  func close() {
    state.withLock { state in
      state.isClosed = true
      state.sleeping = nil
      state.current = []
      state.next = nil
    }
  }

  /// What libmicrohttpd asks for when all that it had has gone: how many bytes were put there, 0 and the
  /// connection sleeps until there is more, or nil at the end.
  func read(into target: UnsafeMutableRawBufferPointer) -> Int? {
    state.withLock { state in
      if state.sent == state.current.count {
        guard let next = state.next else { return rest(&state) }
        state.current = next
        state.sent = 0
        state.next = nil
        state.lastTaken = SystemClock.monotonic()
        clock.begin(descriptor)
      }
      let count = min(target.count, state.current.count - state.sent)
      unsafe target.copyBytes(from: state.current[state.sent..<state.sent + count])
      state.sent += count
      return count
    }
  }

  private func rest(_ state: inout State) -> Int? {
    guard !state.isEnding, !state.isClosed,
      let connection = unsafe OpaquePointer(bitPattern: connection)
    else { return nil }
    // Suspended under the lock: whoever has a message wakes it afterwards.
    state.sleeping = self.connection
    clock.pause(descriptor)
    unsafe MHD_suspend_connection(connection)
    return 0
  }

  private func wake(_ state: inout State) {
    guard let address = state.sleeping, let connection = unsafe OpaquePointer(bitPattern: address)
    else { return }
    state.sleeping = nil
    clock.begin(descriptor)
    unsafe MHD_resume_connection(connection)
  }
}

/// Streams that are open, of one server.
final class HTTPStreams: Sendable {
  private struct State {
    var open: [ObjectIdentifier: HTTPStream] = [:]
    var isEnding = false
  }

  private let limit: Int
  private let state = Mutex(State())

  init(limit: Int) { self.limit = limit }

  /// False when there are as many as there may be.
  func add(_ stream: HTTPStream) -> Bool {
    state.withLock { state in
      guard state.open.count < limit, !state.isEnding else { return false }
      state.open[ObjectIdentifier(stream)] = stream
      return true
    }
  }

  func remove(_ stream: HTTPStream) {
    state.withLock { _ = $0.open.removeValue(forKey: ObjectIdentifier(stream)) }
    stream.close()
  }

  var count: Int { state.withLock { $0.open.count } }

  func beat(after nanoseconds: Int64) {
    let now = SystemClock.monotonic()
    for stream in state.withLock({ Array($0.open.values) }) { stream.beat(now, after: nanoseconds) }
  }

  /// Ends all, now and from now on.
  func end() {
    let open = state.withLock { state in
      state.isEnding = true
      return Array(state.open.values)
    }
    for stream in open { stream.end() }
  }
}

/// Called on the connection's thread whenever it can send.
func readStream(
  _ context: UnsafeMutableRawPointer?, _ position: UInt64, _ target: UnsafeMutablePointer<CChar>?,
  _ room: Int
) -> Int {
  guard let context = unsafe context else { return streamEnd }
  let stream = unsafe Unmanaged<HTTPStream>.fromOpaque(context).takeUnretainedValue()
  let buffer = unsafe UnsafeMutableRawBufferPointer(start: target, count: room)
  return unsafe stream.read(into: buffer) ?? streamEnd
}

func freeStream(_ context: UnsafeMutableRawPointer?) {
  guard let context = unsafe context else { return }
  unsafe Unmanaged<HTTPStream>.fromOpaque(context).release()
}

/// `MHD_CONTENT_READER_END_OF_STREAM`, a macro that Swift does not see.
private let streamEnd = -1
