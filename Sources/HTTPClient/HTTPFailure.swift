/// Why a request has no whole answer.
public struct HTTPFailure: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Kind: String, Sendable, CaseIterable {
    /// The name has no address, or the name service does not answer.
    case resolve
    /// Nobody listens there, or no way leads there.
    case connect
    /// The encrypted connection did not come about; also a certificate that is not trusted.
    case tls
    /// Longer than a limit of the configuration.
    case timeout
    /// The connection broke before the answer was there.
    case reset
    /// The answer stops in its middle.
    case truncated
    /// What came is no HTTP, or its head goes beyond the limits.
    case answer
    /// The head came whole, in `partial`, but the body cannot be read: it is not compressed as the head
    /// says, or is longer than the limit.
    case body
    /// The request itself cannot be sent as it is: trying again is of no use.
    case request
  }

  public var kind: Kind
  /// Host and port; never the path or the query.
  public var host: String
  public var text: String
  /// Bytes of the request went out, so the server may have taken it.
  public var mayHaveArrived: Bool
  /// What had come of the answer when it failed: nil before its first line.
  public var partial: HTTPReply?

  public init(
    _ kind: Kind, host: String, _ text: String, mayHaveArrived: Bool = false,
    partial: HTTPReply? = nil
  ) {
    self.kind = kind
    self.host = host
    self.text = text
    self.mayHaveArrived = mayHaveArrived
    self.partial = partial
  }

  public var description: String { "\(host): \(text)" }
}
