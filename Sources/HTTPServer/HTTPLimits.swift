/// What a client can take from a server. At most about `connections * (bodyBytes + headBytes)` of
/// memory is held by requests.
public struct HTTPLimits: Hashable, Sendable {
  /// Connections at a time. Further ones wait in the kernel's queue until one ends.
  public var connections: Int
  /// A connection on which nothing moves for so long is closed, within a request or between two.
  public var idleSeconds: Int
  /// A larger body is answered with 413.
  public var bodyBytes: Int
  /// A longer decoded path is answered with 414.
  public var pathBytes: Int
  /// Request line and headers; more is answered with 414 or 431 and the connection closed.
  public var headBytes: Int
  /// How long `stop` waits for requests under way before it cuts them.
  public var drainMilliseconds: Int

  public init(
    connections: Int = 64, idleSeconds: Int = 30, bodyBytes: Int = 1 << 20, pathBytes: Int = 2048,
    headBytes: Int = 16384, drainMilliseconds: Int = 1000
  ) {
    precondition(1...100_000 ~= connections && 1...86400 ~= idleSeconds)
    precondition(0...(1 << 30) ~= bodyBytes && pathBytes > 0 && 1024...(1 << 20) ~= headBytes)
    precondition(0...600_000 ~= drainMilliseconds)
    self.connections = connections
    self.idleSeconds = idleSeconds
    self.bodyBytes = bodyBytes
    self.pathBytes = pathBytes
    self.headBytes = headBytes
    self.drainMilliseconds = drainMilliseconds
  }
}
