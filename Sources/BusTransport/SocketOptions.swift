/// What a socket is set to before it binds or connects. The defaults are what a bus socket needs; a
/// limit of 0 for a high-water mark means none.
public struct SocketOptions: Sendable {
  /// Milliseconds that closing may wait for unsent messages. libzmq's own default waits for ever.
  public var lingerMilliseconds: Int32 = 0
  /// Bytes of one incoming frame; a larger one ends its connection.
  public var maximumMessageBytes: Int64 = 2 << 20
  /// Messages queued towards one peer, and from one peer.
  public var sendHighWater: Int32 = 1000
  public var receiveHighWater: Int32 = 1000
  /// A peer that has not shaken hands by then is disconnected: port scans hold nothing.
  public var handshakeMilliseconds: Int32 = 3000
  /// 0 turns it off, and must for a socket whose owner may fall behind: libzmq 4.3.4 ends the process when it
  /// is time for a heartbeat on a connection that broke (reset, or shut down here) while as much waits to be
  /// read as the mark allows. Then the kernel's keep-alive finds a dead link, within 50 seconds.
  ///
  /// ZMTP's own heartbeat, so that a half-open link is noticed. It does not notice a peer whose
  /// threads hang: sessions have a heartbeat of their own.
  public var heartbeatMilliseconds: Int32 = 2000
  public var heartbeatTimeoutMilliseconds: Int32 = 6000
  public var reconnectMilliseconds: Int32 = 100
  /// Reconnects back off up to this, so that a fleet does not storm a restarted broker.
  public var maximumReconnectMilliseconds: Int32 = 5000
  /// DEALER and PUSH: queue only to links that are up.
  public var sendsOnlyWhenConnected = false
  /// Whether `nextConnectionEvent` tells what happens to connections; it must be read then.
  public var reportsConnections = false
  /// The same, but of handshakes that failed alone: what a socket with many peers can afford.
  public var reportsFailures = false
  /// The kernel's buffer of each connection for what comes in; 0: as it thinks best.
  public var receiveBufferBytes: Int32 = 0
  /// Connections that wait to be accepted.
  public var backlog: Int32 = 256
  /// Encryption and who is who; nil: anybody, in plain text.
  public var curve: CurveRole?

  public init() {}
}
