/// What a server has met since it started.
public struct HTTPServerCounters: Hashable, Sendable {
  /// Connections that are open now.
  public var connections = 0
  /// Connections that were accepted.
  public var accepted: UInt64 = 0
  /// Connections that were cut since a step took longer than `HTTPLimits.stepSeconds`.
  public var tooSlow: UInt64 = 0
  /// Requests refused for the size of their body.
  public var tooLarge: UInt64 = 0
  /// Requests refused since all bodies together had reached their limit.
  public var overloaded: UInt64 = 0

  public init() {}
}
