public import Analytics

/// A view, or anything else, that holds the service it sends events to.
///
/// ```swift
/// struct FeedView: View, AnalyticsTracking {
///   @Environment(\.analytics) var analytics
///
///   var body: some View {
///     Button("Like") { track(EventType.PostLiked(post)) }
///   }
/// }
/// ```
@MainActor
public protocol AnalyticsTracking {
  var analytics: any AnalyticsEventSending { get }
}

extension AnalyticsTracking {
  /// Sends one event, from inside an action.
  public func track(_ event: any PublishableEvent) { analytics.send(event) }

  /// Sends events in order, from inside an action.
  public func track(@AnalyticsEventBuilder _ events: () -> [any PublishableEvent]) {
    for event in events() { analytics.send(event) }
  }

  /// Sends one event to another service than the view's own.
  public func track(with analytics: any AnalyticsEventSending, _ event: any PublishableEvent) {
    analytics.send(event)
  }

  /// Sends events in order to another service than the view's own.
  public func track(
    with analytics: any AnalyticsEventSending,
    @AnalyticsEventBuilder _ events: () -> [any PublishableEvent]
  ) {
    for event in events() { analytics.send(event) }
  }
}
