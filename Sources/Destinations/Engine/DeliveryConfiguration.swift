/// How the engine works. The defaults are what the commands offer.
public struct DeliveryConfiguration: Sendable {
  /// Requests at a time. With more than one, events of one user keep their order and others do not.
  public var concurrency = 1
  /// Events and bytes taken from the bus and not yet settled; at either bound no more are taken. An
  /// event's bytes are those of its payload, of what is to be sent, and 200 for its place.
  public var waitingEvents = 100_000
  public var waitingBytes = 32 << 20
  /// How long an event waits for others that travel in the same request.
  public var linger: Duration = .milliseconds(50)
  /// Events a second at most; nil: as fast as the destination answers.
  public var eventsPerSecond: Double?

  /// The first wait after a failure; doubled each time, up to `retryLimit`.
  public var retryBase: Duration = .milliseconds(500)
  public var retryLimit: Duration = .seconds(300)
  /// Between two requests while a person has to mend the configuration.
  public var probeInterval: Duration = .seconds(180)
  /// So many tries and so long must requests of several events have failed by the server's answer
  /// before one of these events is suspected.
  public var suspectTries = 8
  public var suspectAfter: Duration = .seconds(600)
  /// An event that fails alone for so long, while others get through, becomes a dead letter. Where
  /// nothing waits but events of its own user, the next of these shows then whether it is the destination.
  public var loneFailureLimit: Duration = .seconds(12 * 3600)
  /// The same, when everything that may wait here waits because of such events: nothing else can get
  /// through then, so the whole time counts.
  public var blockingLimit: Duration = .seconds(3600)

  public init() {}
}
