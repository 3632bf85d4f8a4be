/// What became of the events of a client since it was made.
///
/// Always: `restored + tracked = delivered + refused + shed + erased + waiting`. Nothing goes uncounted.
public struct AnalyticsClientMetrics: Sendable, Hashable {
  /// Found in the store at the start, from an earlier launch.
  public var restored = 0
  /// Taken by `track`.
  public var tracked = 0
  /// Answered with success.
  public var delivered = 0
  /// Never to be sent: not encodable, or refused by the server for what they are.
  public var refused = 0
  /// Gone at a bound.
  public var shed = 0
  /// Gone because the person opted out, or was reset.
  public var erased = 0
  /// In the queue, those under way included.
  public var waiting = 0

  /// Requests that were begun, and those that did not succeed.
  public var requests = 0
  /// Of those, without success.
  public var failedRequests = 0
  /// Numbers without a JSON text (NaN, the infinities), which are sent as null.
  public var nonFiniteNumbers = 0
  /// Times the store could not be opened, read or written; events stay in memory meanwhile.
  public var storeFailures = 0
  /// Damaged files that were renamed.
  public var storesMovedAside = 0
  /// Whether all waiting events are on disk.
  public var isStored = false
  /// The latest failure of a request, with status or cause; nil after a success.
  public var lastFailure: String?
  /// The latest refusal of an event, with the server's reason.
  public var lastRefusal: String?
  /// The latest trouble with the store, and what to do about it.
  public var lastStoreFailure: String?

  /// All zero.
  public init() {}
}

/// What a flush came to.
public struct AnalyticsFlushResult: Sendable, Hashable {
  /// Of the events that waited when the flush was asked for: those that still do.
  public var waiting: Int
  /// Why, where some do.
  public var failure: String?

  /// For providers of an app's own.
  public init(waiting: Int, failure: String? = nil) {
    self.waiting = waiting
    self.failure = failure
  }

  /// Nothing waits any more.
  public var isComplete: Bool { waiting == 0 }
}
