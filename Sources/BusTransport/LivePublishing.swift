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
    let isFree = try beginPublishing(topic)
    try finishPublishing(body, meta, isFree: isFree)
    return isFree
  }

  /// The first half of `publish`: from here on it is settled who gets the message, and nothing of it goes
  /// out before `finishPublishing`. So there is time between them to look who subscribed, and to end the
  /// connections of those that must not have it.
  ///
  /// - Returns: false when a subscriber that kept up so far begins to lose.
  public func beginPublishing(_ topic: RawSpan) throws(TransportError) -> Bool {
    // A send looks at what the readers have drained only now and then; asking for events does it at
    // once. Without this a reader that keeps up looks full in a burst, and loses.
    var isFree = try trySend(topic, more: true)
    if !isFree {
      try processEvents()
      isFree = try trySend(topic, more: true)
    }
    if isFree { return true }
    let settings = unsafe SocketSettings(handle)
    try settings.set("xpub_nodrop", ZMQ_XPUB_NODROP, 0)
    do throws(TransportError) {
      _ = try trySend(topic, more: true)
    } catch {
      try settings.set("xpub_nodrop", ZMQ_XPUB_NODROP, 1)
      throw error
    }
    return false
  }

  /// Sends the frames behind the first, which alone can be refused.
  ///
  /// - Parameter isFree: what `beginPublishing` returned.
  public func finishPublishing(
    _ body: RawSpan, _ meta: RawSpan, isFree: Bool
  ) throws(TransportError) {
    do throws(TransportError) {
      _ = try trySend(body, more: true)
      _ = try trySend(meta)
    } catch {
      if !isFree { try unsafe SocketSettings(handle).set("xpub_nodrop", ZMQ_XPUB_NODROP, 1) }
      throw error
    }
    if !isFree { try unsafe SocketSettings(handle).set("xpub_nodrop", ZMQ_XPUB_NODROP, 1) }
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
