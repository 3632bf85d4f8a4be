// What apps import: the event model, and the service, client and builders on top of it, under one name.
@_exported public import EventModel
@_exported public import EventObservation

/// Observers in the same program are senders' targets too: an app that posts to `NotificationCenter`
/// today hands its registries an `InProcessBus`, and observes by type.
extension InProcessBus: AnalyticsEventSending {
  /// Calls the observers before it returns.
  public func send(_ event: any PublishableEvent) { publish(event) }
}
