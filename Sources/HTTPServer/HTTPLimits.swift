/// What a client can take from a server. At most about `connections * headBytes + allBodiesBytes` of
/// memory is held by requests.
public struct HTTPLimits: Hashable, Sendable {
  /// Connections at a time. Further ones wait in the kernel's queue until one ends. While all are taken,
  /// a connection may be in one step for a sixth of `stepSeconds` only, also between two requests.
  public var connections: Int
  /// Of those, from one address; 0: no limit of its own, as behind a proxy all come from one.
  public var connectionsPerAddress: Int
  /// A connection on which nothing moves for so long is closed, within a request or between two.
  public var idleSeconds: Int
  /// However steadily it drips: the head must be there so long after the connection began or the last
  /// answer went, the body so long after the head, and the answer be taken so long after it was made.
  public var stepSeconds: Int
  /// As long as that, while others wait.
  var crowdedSeconds: Int { max(1, stepSeconds / 6) }
  /// A larger body is answered with 413.
  public var bodyBytes: Int
  /// Bodies of all requests under way; what would go beyond it is answered with 503.
  public var allBodiesBytes: Int
  /// A longer decoded path is answered with 414.
  public var pathBytes: Int
  /// Request line and headers; more is answered with 414 or 431 and the connection closed.
  public var headBytes: Int
  /// How long `stop` waits for requests under way before it cuts them.
  public var drainMilliseconds: Int
  /// Threads that serve; handlers run on them.
  public var threads: Int
  /// Answers that go on (`HTTPStream`) at a time; one more is answered with 503. Each is a connection.
  public var streams = 32
  /// A longer message of a stream is not sent. A stream holds two at most.
  public var streamMessageBytes = 1 << 20
  /// A stream on which nothing went for so long gets a comment, by which a client that left is found.
  public var heartbeatSeconds = 15

  public init(
    connections: Int = 64, idleSeconds: Int = 30, bodyBytes: Int = 1 << 20, pathBytes: Int = 2048,
    headBytes: Int = 16384, drainMilliseconds: Int = 1000, stepSeconds: Int = 30,
    allBodiesBytes: Int = 64 << 20, connectionsPerAddress: Int = 0, threads: Int = 1
  ) {
    precondition(1...100_000 ~= connections && 1...86400 ~= idleSeconds)
    precondition(0...(1 << 30) ~= bodyBytes && pathBytes > 0 && 1024...(1 << 20) ~= headBytes)
    precondition(0...600_000 ~= drainMilliseconds && 1...86400 ~= stepSeconds)
    precondition(allBodiesBytes >= 0 && connectionsPerAddress >= 0 && 1...256 ~= threads)
    self.connections = connections
    self.connectionsPerAddress = connectionsPerAddress
    self.idleSeconds = idleSeconds
    self.stepSeconds = stepSeconds
    self.bodyBytes = bodyBytes
    self.allBodiesBytes = allBodiesBytes
    self.pathBytes = pathBytes
    self.headBytes = headBytes
    self.drainMilliseconds = drainMilliseconds
    self.threads = threads
  }
}
