/// A request that has ended.
public struct HTTPCompletion: Sendable {
  public var id: HTTPClient.CallID
  public var result: Result<HTTPReply, HTTPFailure>
  /// From `start` to the end.
  public var duration: Duration
  /// Whether it went over a connection that stood already.
  public var reusedConnection: Bool
}
