internal import CZeroMQ

/// What the owner of an XPUB socket needs besides sending.
extension Socket {
  /// What a peer of an XPUB asks for.
  public enum Subscription: Hashable, Sendable {
    case subscribe([UInt8])
    case unsubscribe([UInt8])
  }

  /// Sends one message of three frames to whoever subscribes to its topic.
  ///
  /// A full subscriber loses it and nobody waits: the socket refuses first, so that the loss is seen,
  /// and is then told to drop. Returns false when a subscriber that kept up so far begins to lose:
  /// from then on libzmq passes it over in silence, until it has read half of what it has queued. So
  /// count episodes by this, not messages.
  public func publish(
    _ topic: RawSpan, _ body: RawSpan, _ meta: RawSpan
  ) throws(TransportError) -> Bool {
    // A send looks at what the readers have drained only now and then; asking for events does it at
    // once. Without this a reader that keeps up looks full in a burst, and loses.
    var isFree = try trySend(topic, more: true)
    if !isFree {
      try processEvents()
      isFree = try trySend(topic, more: true)
    }
    if isFree {
      try finish(body, meta)
      return true
    }
    let settings = unsafe SocketSettings(handle)
    try settings.set("xpub_nodrop", ZMQ_XPUB_NODROP, 0)
    do throws(TransportError) {
      _ = try trySend(topic, more: true)
      try finish(body, meta)
    } catch {
      try settings.set("xpub_nodrop", ZMQ_XPUB_NODROP, 1)
      throw error
    }
    try settings.set("xpub_nodrop", ZMQ_XPUB_NODROP, 1)
    return false
  }

  /// The frames behind the first, which alone can be refused.
  private func finish(_ body: RawSpan, _ meta: RawSpan) throws(TransportError) {
    _ = try trySend(body, more: true)
    _ = try trySend(meta)
  }

  /// Makes the socket process what its peers told it.
  private func processEvents() throws(TransportError) {
    var events: Int32 = 0
    var size = MemoryLayout<Int32>.size
    try check("zmq_getsockopt events") {
      unsafe zmq_getsockopt(handle, ZMQ_EVENTS, &events, &size)
    }
  }

  /// Reads a frame that an XPUB received; nil for what is no subscription: an XSUB may send any bytes.
  public static func subscription(_ frame: RawSpan) -> Subscription? {
    guard frame.byteCount >= 1 else { return nil }
    let topic = unsafe frame.withUnsafeBytes { unsafe [UInt8]($0.dropFirst()) }
    return switch unsafe frame.unsafeLoad(as: UInt8.self) {
    case 1: .subscribe(topic)
    case 0: .unsubscribe(topic)
    default: nil
    }
  }
}
