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
    if try trySend(topic, more: true) {
      // Only the first frame of a message can be refused.
      _ = try trySend(body, more: true)
      _ = try trySend(meta)
      return true
    }
    let settings = unsafe SocketSettings(handle)
    try settings.set("xpub_nodrop", ZMQ_XPUB_NODROP, 0)
    _ = try trySend(topic, more: true)
    _ = try trySend(body, more: true)
    _ = try trySend(meta)
    try settings.set("xpub_nodrop", ZMQ_XPUB_NODROP, 1)
    return false
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
