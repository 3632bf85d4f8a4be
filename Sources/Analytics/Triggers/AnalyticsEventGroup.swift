/// The events that one trigger fires, in order.
///
/// ```swift
/// AnalyticsEventGroup(.task) {
///   EventType.ScreenViewed(name: "Feed")
///   if isFirstVisit { EventType.WelcomeShown() }
/// }
/// ```
public struct AnalyticsEventGroup: Sendable {
  /// What fires the events.
  public var trigger: AnalyticsEventTrigger
  /// In the order of sending.
  public var events: [any PublishableEvent]

  public init(
    _ trigger: AnalyticsEventTrigger,
    @AnalyticsEventBuilder events: () -> [any PublishableEvent]
  ) {
    self.trigger = trigger
    self.events = events()
  }

  public init(_ trigger: AnalyticsEventTrigger, events: [any PublishableEvent]) {
    self.trigger = trigger
    self.events = events
  }
}

extension Sequence<AnalyticsEventGroup> {
  /// The events of every group with this trigger: groups in their order, events in theirs.
  public func events(for trigger: AnalyticsEventTrigger) -> [any PublishableEvent] {
    filter { $0.trigger == trigger }.flatMap(\.events)
  }

  /// Sends the events of every group with this trigger, in order.
  public func dispatch(_ trigger: AnalyticsEventTrigger, to sender: any AnalyticsEventSending) {
    for event in events(for: trigger) { sender.send(event) }
  }
}
