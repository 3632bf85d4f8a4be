internal import CZeroMQ
internal import Primitives

/// A ZeroMQ socket. It belongs to the thread that made it: libzmq allows no other to touch it, not even
/// under a lock. Closed when it goes out of scope; its context outlives it.
@safe public struct Socket: ~Copyable {
  public enum Kind: Sendable {
    case router, dealer, xpub, sub, pub, push, pull, pair
  }

  let handle: UnsafeMutableRawPointer
  /// The reading end of the reports about connections, of a socket that makes them.
  let monitor: UnsafeMutableRawPointer?
  public let kind: Kind
  private let thread: Int64
  // Last, so that it is released after `deinit` has closed the socket.
  private let context: ZeroMQContext

  public init(
    _ context: ZeroMQContext, _ kind: Kind, _ options: SocketOptions = SocketOptions()
  ) throws(TransportError) {
    let handle = unsafe try SocketSettings.open(context, kind, options)
    do throws(TransportError) {
      unsafe monitor =
        options.reportsConnections || options.reportsFailures
        ? try ConnectionMonitor.start(handle, context, isComplete: options.reportsConnections) : nil
    } catch {
      unsafe zmq_close(handle)
      throw error
    }
    unsafe self.handle = handle
    self.kind = kind
    self.context = context
    thread = OwnedThread.currentID
  }

  deinit {
    assert(OwnedThread.currentID == thread, "a socket is closed by the thread that made it")
    if let monitor = unsafe monitor { unsafe ConnectionMonitor.stop(handle, monitor) }
    unsafe zmq_close(handle)
  }

  /// Binds; a port `*` lets the system choose (see `lastEndpoint`).
  public func bind(_ address: String) throws(TransportError) {
    try allowVersion6(address)
    try check("zmq_bind", address) { unsafe zmq_bind(handle, address) }
  }

  /// Stops accepting at an address, spelled as `lastEndpoint` gave it.
  public func unbind(_ address: String) throws(TransportError) {
    try check("zmq_unbind", address) { unsafe zmq_unbind(handle, address) }
  }

  public func connect(_ address: String) throws(TransportError) {
    try allowVersion6(address)
    try check("zmq_connect", address) { unsafe zmq_connect(handle, address) }
  }

  public func disconnect(_ address: String) throws(TransportError) {
    try check("zmq_disconnect", address) { unsafe zmq_disconnect(handle, address) }
  }

  /// Only where the address itself is one of IPv6: with the option, libzmq takes a name's first address,
  /// and that of `localhost` is often one where nobody listens.
  private func allowVersion6(_ address: String) throws(TransportError) {
    guard address.contains("://[") else { return }
    try unsafe SocketSettings(handle).set("ipv6", ZMQ_IPV6, 1)
  }

  /// The address bound or connected last, with the real port.
  public func lastEndpoint() throws(TransportError) -> String {
    var length = 256
    var text = [CChar](repeating: 0, count: length)
    try check("zmq_getsockopt") {
      unsafe zmq_getsockopt(handle, ZMQ_LAST_ENDPOINT, &text, &length)
    }
    return String(
      decoding: text.prefix(max(0, length - 1)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Sends a copy of `bytes`; false when the queue is full and nothing was sent.
  ///
  /// - Throws: `.unreachable` from a ROUTER whose peer has gone, `.terminated`.
  public func trySend(_ bytes: RawSpan, more: Bool = false) throws(TransportError) -> Bool {
    let flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)
    return try unsafe bytes.withUnsafeBytes { bytes throws(TransportError) in
      try checkSend("zmq_send") { unsafe zmq_send(handle, bytes.baseAddress, bytes.count, flags) }
    }
  }

  public func trySend(_ bytes: [UInt8], more: Bool = false) throws(TransportError) -> Bool {
    try unsafe trySend(bytes.span.bytes, more: more)
  }

  /// Sends a message without copying it, and empties it. False when the queue is full; the message is
  /// whole then, to be sent later.
  public func trySend(
    _ message: inout Message, more: Bool = false
  ) throws(TransportError) -> Bool {
    let flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)
    return try checkSend("zmq_msg_send") { unsafe zmq_msg_send(message.handle, handle, flags) }
  }

  /// Sends a message without copying it. False when the queue is full; the message is dropped then.
  public func trySend(
    _ message: consuming Message, more: Bool = false
  ) throws(TransportError) -> Bool {
    let flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)
    return try checkSend("zmq_msg_send") { unsafe zmq_msg_send(message.handle, handle, flags) }
  }

  /// libzmq learns what its readers have taken only now and then while one sends in a loop, and calls
  /// a queue full that has long been read: so it is made to look before that is believed.
  private func checkSend(_ call: String, _ send: () -> Int32) throws(TransportError) -> Bool {
    if try checkReady(call, send) { return true }
    var events: Int32 = 0
    var size = MemoryLayout<Int32>.size
    try check("zmq_getsockopt events") { unsafe zmq_getsockopt(handle, ZMQ_EVENTS, &events, &size) }
    return try checkReady(call, send)
  }

  /// Receives one frame into `message`; false when there is none.
  public func tryReceive(into message: inout Message) throws(TransportError) -> Bool {
    try checkReady("zmq_msg_recv") { unsafe zmq_msg_recv(message.handle, handle, ZMQ_DONTWAIT) }
  }

  /// Drops the rest of a message whose last frame received was `message`; returns how many frames.
  public func dropRest(_ message: inout Message) throws(TransportError) -> Int {
    var dropped = 0
    while message.hasMore, try tryReceive(into: &message) { dropped += 1 }
    return dropped
  }

  /// SUB: adds or removes a topic prefix.
  public func subscribe(_ topic: [UInt8]) throws(TransportError) {
    try unsafe SocketSettings(handle).set("subscribe", ZMQ_SUBSCRIBE, topic)
  }

  public func unsubscribe(_ topic: [UInt8]) throws(TransportError) {
    try unsafe SocketSettings(handle).set("unsubscribe", ZMQ_UNSUBSCRIBE, topic)
  }
}

extension Socket.Kind {
  var constant: Int32 {
    switch self {
    case .router: ZMQ_ROUTER
    case .dealer: ZMQ_DEALER
    case .xpub: ZMQ_XPUB
    case .sub: ZMQ_SUB
    case .pub: ZMQ_PUB
    case .push: ZMQ_PUSH
    case .pull: ZMQ_PULL
    case .pair: ZMQ_PAIR
    }
  }
}
