internal import CZeroMQ

/// Socket options by name, each through the one funnel.
@safe struct SocketSettings {
  private let handle: UnsafeMutableRawPointer

  init(_ handle: UnsafeMutableRawPointer) { unsafe self.handle = handle }

  /// A new socket with everything set; closed again when something is refused.
  static func open(
    _ context: ZeroMQContext, _ kind: Socket.Kind, _ options: SocketOptions
  ) throws(TransportError) -> UnsafeMutableRawPointer {
    guard let handle = unsafe zmq_socket(context.handle, kind.constant) else {
      throw TransportError.last("zmq_socket")
    }
    do throws(TransportError) {
      try unsafe SocketSettings(handle).apply(options, to: kind)
    } catch {
      unsafe zmq_close(handle)
      throw error
    }
    return unsafe handle
  }

  func set(_ name: String, _ option: Int32, _ bytes: [UInt8]) throws(TransportError) {
    try check("zmq_setsockopt \(name)") {
      unsafe zmq_setsockopt(handle, option, bytes, bytes.count)
    }
  }

  func set(_ name: String, _ option: Int32, _ value: Int32) throws(TransportError) {
    var value = value
    try check("zmq_setsockopt \(name)") { unsafe zmq_setsockopt(handle, option, &value, 4) }
  }

  private func apply(_ options: SocketOptions, to kind: Socket.Kind) throws(TransportError) {
    try set("linger", ZMQ_LINGER, options.lingerMilliseconds)
    var size = options.maximumMessageBytes
    try check("zmq_setsockopt maxmsgsize") {
      unsafe zmq_setsockopt(handle, ZMQ_MAXMSGSIZE, &size, 8)
    }
    // A SUB queues its subscriptions like messages: over the mark they vanish without a word.
    try set("sndhwm", ZMQ_SNDHWM, kind == .sub ? 0 : options.sendHighWater)
    // At this one the kernel holds back who sends: nothing is lost, subscriptions neither.
    try set("rcvhwm", ZMQ_RCVHWM, options.receiveHighWater)
    if options.receiveBufferBytes > 0 { try set("rcvbuf", ZMQ_RCVBUF, options.receiveBufferBytes) }
    try set("handshake_ivl", ZMQ_HANDSHAKE_IVL, options.handshakeMilliseconds)
    try set("heartbeat_ivl", ZMQ_HEARTBEAT_IVL, options.heartbeatMilliseconds)
    try set("heartbeat_timeout", ZMQ_HEARTBEAT_TIMEOUT, options.heartbeatTimeoutMilliseconds)
    try set("heartbeat_ttl", ZMQ_HEARTBEAT_TTL, options.heartbeatTimeoutMilliseconds)
    try set("tcp_keepalive", ZMQ_TCP_KEEPALIVE, 1)
    try set("tcp_keepalive_idle", ZMQ_TCP_KEEPALIVE_IDLE, 20)
    try set("tcp_keepalive_intvl", ZMQ_TCP_KEEPALIVE_INTVL, 10)
    try set("tcp_keepalive_cnt", ZMQ_TCP_KEEPALIVE_CNT, 3)
    try set("reconnect_ivl", ZMQ_RECONNECT_IVL, options.reconnectMilliseconds)
    try set("reconnect_ivl_max", ZMQ_RECONNECT_IVL_MAX, options.maximumReconnectMilliseconds)
    try set("backlog", ZMQ_BACKLOG, options.backlog)
    if let role = options.curve { try apply(role) }
    switch kind {
    case .router:
      // Without it a message to a peer that has gone, or is full, vanishes.
      try set("router_mandatory", ZMQ_ROUTER_MANDATORY, 1)
    case .xpub:
      try set("xpub_verboser", ZMQ_XPUB_VERBOSER, 1)
      try set("xpub_nodrop", ZMQ_XPUB_NODROP, 1)
    case .dealer, .push:
      if options.sendsOnlyWhenConnected { try set("immediate", ZMQ_IMMEDIATE, 1) }
    default: break
    }
  }
}
