/// What a server has met since it started.
public struct HTTPServerCounters: Hashable, Sendable {
  /// Connections that are open now.
  public var connections = 0
  /// Connections that were accepted.
  public var accepted: UInt64 = 0
  /// Connections that were cut since a step took longer than `HTTPLimits.stepSeconds`.
  public var tooSlow: UInt64 = 0
  /// Times that all connections were taken, so that others had to wait.
  public var full: UInt64 = 0
  /// Connections that were cut then, since they did not move on: see `HTTPLimits.connections`.
  public var crowdedOut: UInt64 = 0
  /// Requests refused for the size of their body.
  public var tooLarge: UInt64 = 0
  /// Requests refused since all bodies together had reached their limit.
  public var overloaded: UInt64 = 0

  /// Streams that are open now.
  public var streams = 0
  /// Requests for a stream that were refused since there were as many as there may be.
  public var streamsRefused: UInt64 = 0
  /// Messages that a stream's client did not get: it was slow, and a newer one came.
  public var messagesSkipped: UInt64 = 0

  public init() {}
}
