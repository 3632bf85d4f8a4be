/// Limits of a client. The defaults suit a provider's API.
public struct HTTPClientConfiguration: Hashable, Sendable {
  /// Resolving, connecting and TLS together.
  public var connectLimit: Duration = .seconds(10)
  /// The whole request.
  public var totalLimit: Duration = .seconds(60)
  /// Under ``lowSpeedBytes`` a second, in both directions together, for so long: given up.
  public var lowSpeedLimit: Duration = .seconds(30)
  public var lowSpeedBytes = 10
  /// Bytes kept of an answer's body. A list of 2,000 refused events fits.
  public var keptBodyBytes = 1 << 20
  /// An answer is read to here, decompressed, so that its connection can be used again; one beyond it
  /// fails.
  public var readBodyBytes = 8 << 20
  /// Status line and headers of an answer; one beyond it fails.
  public var headBytes = 64 << 10
  /// Requests under way at once.
  public var calls = 64
  /// Connections kept for later.
  public var idleConnections = 4
  /// A connection is not used again beyond this age, so that a change of address is noticed.
  public var connectionLife: Duration = .seconds(600)
  /// Certificates to trust in place of the system's: a PEM file.
  public var certificateFile: String?
  public var userAgent = "eventbus"

  public init() {}
}
