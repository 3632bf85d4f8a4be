public import HTTPServer

/// How a collector is set up.
public struct CollectorConfiguration: Sendable {
  /// Where clients connect. Without keys it must be an address of this machine alone.
  public var host = "127.0.0.1"
  public var port: UInt16 = 7410
  /// The broker's address.
  public var bus: String
  public var writeKeys: [String] = []
  /// Other machines may write without a key, too.
  public var isOpenToAll = false
  /// Bytes of a body, as it is sent and as it is when unpacked.
  public var maximumBodyBytes = 4 << 20
  public var rules = PropertyRules()
  public var identity: TLSIdentity?
  public var connections = 2048
  public var connectionsPerAddress = 0
  public var threads = 2
  /// Whole seconds without a byte, and for each step of a request: see `HTTPLimits`.
  public var clientSeconds = 30
  /// Bytes of events that wait for the bus; at the bound requests are answered with 429.
  public var maximumPendingBytes = 64 << 20
  /// How long a request may wait for the bus; then it is answered with 503.
  public var busDeadline = Duration.seconds(10)
  /// Where the tracking plan is kept, made when there is one; nil: it is read from the bus at each start.
  public var planDirectory: String?
  /// How often it is looked whether the plan is about to leave the journal with old segments.
  public var planInterval = Duration.seconds(60)
  /// News of the plan that somebody should see, on a thread of the collector's.
  public var onPlanTrouble: @Sendable (String) -> Void = { _ in }
  /// Gets the number of connections when all are taken, at most once a minute.
  public var onFull: @Sendable (Int) -> Void = { _ in }
  /// How long `stop` waits for what is under way.
  public var grace = Duration.seconds(8)

  public init(bus: String) { self.bus = bus }
}

/// Why a collector could not start.
public enum CollectorError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Without a key anybody who reaches the address could write.
  case needsKeys(host: String)
  case server(HTTPServerError)
  case bus(text: String)
  case system(text: String)

  public var description: String {
    switch self {
    case .needsKeys(let host):
      "--listen \(host) can be reached from other machines: give --write-key (better: "
        + "EVENTBUS_WRITE_KEY), listen on 127.0.0.1, or say --insecure"
    case .server(let error): error.description
    case .bus(let text), .system(let text): text
    }
  }
}
