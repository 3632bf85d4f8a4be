/// Where an ``AnalyticsService`` delivers to: the HTTP collector (``AnalyticsClient``), the bus, a list in
/// memory, or whatever else conforms. Changing it changes one line of the app.
public protocol AnalyticsProvider: Sendable {
  /// By which plugins of the destination stage name it.
  var name: String { get }

  /// Takes an event. Called in the order of tracking, by one thread at a time; must not block it.
  func deliver(_ event: StampedEvent)

  /// Sends what waits, and returns when that is done or cannot be now.
  @discardableResult
  func flush() async -> AnalyticsFlushResult

  /// Forgets whatever is kept and was not sent: the person opted out.
  func erase() async
}

extension AnalyticsProvider {
  /// For a provider that keeps nothing.
  @discardableResult
  public func flush() async -> AnalyticsFlushResult { AnalyticsFlushResult(waiting: 0) }
  /// For a provider that keeps nothing.
  public func erase() async {}
}
