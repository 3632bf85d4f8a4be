/// What a client sends to, when, and what it may hold. The defaults suit an app.
public struct AnalyticsClientConfiguration: Sendable {
  /// Where events are sent: the collector's `/v1/events`, or any server that takes a JSON list.
  public var endpoint: String
  /// Sent as the user of Basic authentication; nil for a server that asks for none.
  public var writeKey: String?
  /// The SQLite file that undelivered events are kept in; its folder is made. Nil keeps them in memory
  /// only. One client at a time has a file; a second one goes on in memory, and counts it.
  public var storePath: String?

  /// A flush begins by itself when so many events wait,
  public var flushCount = 20
  /// or the oldest has waited so long.
  public var flushInterval: Duration = .seconds(30)
  /// How long events gather before they are encoded and stored: with the writing itself well within the
  /// 100 ms after which a tracked event survives a kill.
  public var linger: Duration = .milliseconds(10)

  /// One request: so many events, or so many bytes of JSON; one event always fits.
  public var requestEvents = 500
  public var requestBytes = 500 << 10
  /// Bodies from this size on are compressed; nil never.
  public var gzipFrom: Int? = 1 << 10
  /// The whole of one attempt.
  public var requestTimeout: Duration = .seconds(30)

  /// Events and bytes of JSON that may wait; beyond, the oldest that are not under way are shed.
  public var maximumEvents = 100_000
  public var maximumBytes = 32 << 20

  /// Waits after failures: at random up to a ceiling that doubles from the first to the second.
  public var retryBase: Duration = .seconds(1)
  public var retryLimit: Duration = .seconds(300)
  /// The longest that a `Retry-After` is heeded.
  public var longestPause: Duration = .seconds(3600)

  /// The clock of intervals and waits. Tests give one that they move.
  public var clock: any Clock<Duration> = ContinuousClock()
  /// Seeds ids and jitter; nil takes it from the system.
  public var seed: UInt64?

  /// With the defaults for all else.
  public init(endpoint: String, writeKey: String? = nil, storePath: String? = nil) {
    self.endpoint = endpoint
    self.writeKey = writeKey
    self.storePath = storePath
  }
}

/// Why a client or service cannot be made.
public enum AnalyticsError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The address is none that requests can go to.
  case endpoint(String)
  /// The system gives no thread.
  case system(String)

  public var description: String {
    switch self {
    case .endpoint(let text):
      "\"\(text)\" is no address for events: write https://host[:port]/path, without a user in it"
    case .system(let text): "analytics cannot start: \(text)"
    }
  }
}
