/// What one event, batch and session may be. The broker states them in WELCOME and OPENED; a client
/// checks before it sends, since a message over the transport's limit ends its connection.
public struct BusLimits: Hashable, Sendable {
  /// Bytes of an event name. Topics of 246 bytes and more do not work in libzmq 4.3.4.
  public var nameBytes = 200
  /// Bytes of one encoded event.
  public var eventBytes = 256 << 10
  public var batchEvents = 1000
  /// Bytes of one batch, its tables included. One event of full size fits whatever this says.
  public var batchBytes = 1 << 20
  /// Levels of containers in the value of one property; the envelope and `properties` are not counted.
  public var depth = 32

  public init() {}

  /// Bytes that any message may have: what the sockets are set to.
  public var messageBytes: Int { max(batchBytes, eventBytes) + (64 << 10) }
}
