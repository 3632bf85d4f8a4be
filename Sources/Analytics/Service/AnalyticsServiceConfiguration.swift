/// What a service keeps and adds.
public struct AnalyticsServiceConfiguration: Sendable {
  /// The SQLite file for who the user is, the choice of not being tracked, and the app's last version; its
  /// folder is made. Nil keeps them for this launch only. Not the file of an ``AnalyticsClient``.
  public var storePath: String?
  /// Nothing is tracked before `optIn` was called once: for people who must be asked first. What they
  /// chose in an earlier launch counts.
  public var startsOptedOut = false
  /// A session ends when nothing was tracked for so long; nil leaves sessions to the app.
  public var sessionTimeout: Duration? = .seconds(1800)
  /// Context of every event, as `app` and `os` objects.
  public var context: PropertyObject = [:]
  /// How long events gather before the service's thread works on them.
  public var linger: Duration = .milliseconds(5)
  /// Events that may wait for that thread; beyond, the newest are shed and counted.
  public var maximumEvents = 100_000
  /// Seeds ids; nil takes it from the system.
  public var seed: UInt64?

  /// With the defaults for all else.
  public init(storePath: String? = nil) { self.storePath = storePath }
}

/// What became of the calls of a service since it was made, in events.
///
/// Always: `tracked = delivered + dropped + refused + optedOut + shed`, once all are worked on.
public struct AnalyticsServiceMetrics: Sendable, Hashable {
  /// Calls that an event comes of.
  public var tracked = 0
  /// Handed to at least one provider, or to all that plugins allowed.
  public var delivered = 0
  /// By a plugin, or by the event's own closure.
  public var dropped = 0
  /// Not encodable, or made so by a plugin.
  public var refused = 0
  /// Not taken since the person opted out.
  public var optedOut = 0
  /// Beyond `maximumEvents`.
  public var shed = 0
  /// Times the store could not be opened or written; the service goes on without.
  public var storeFailures = 0
  /// Damaged files that were renamed.
  public var storesMovedAside = 0
  /// The latest refusal, with the event's name.
  public var lastRefusal: String?
  /// The latest trouble with the store, and what to do about it.
  public var lastStoreFailure: String?

  /// All zero.
  public init() {}
}
