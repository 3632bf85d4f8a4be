/// The narrow seam that callers depend on: takes an event and returns at once.
///
/// Views, registries and trackers hold an `any AnalyticsEventSending`, never a provider, so that a test
/// hands them a recorder. ``AnalyticsService`` and ``AnalyticsClient`` conform.
public protocol AnalyticsEventSending: Sendable {
  /// Takes the event. Any thread; never blocks, never throws: analytics must not stop an app. What
  /// becomes of an event that cannot be encoded or delivered is counted by whoever conforms.
  func send(_ event: any PublishableEvent)
}

extension AnalyticsEventSending {
  /// The same as ``send(_:)``, by the name that trackers use.
  public func track(_ event: any PublishableEvent) { send(event) }
}

/// Sends nothing: what a view has before an app gives it a service. Previews never reach a real stream.
public struct SilentAnalytics: AnalyticsEventSending {
  public init() {}

  /// Does nothing.
  public func send(_ event: any PublishableEvent) {}
}
