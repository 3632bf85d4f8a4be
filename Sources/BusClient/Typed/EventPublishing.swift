public import EventModel

/// What takes events: the producer, the in-process bus, a recorder in tests.
public protocol EventPublishing: Sendable {
  func publish(_ event: some PublishableEvent) throws(BusClientError)
}

extension Producer: EventPublishing {}

extension PublishableEvent {
  /// Publishes the event on a bus that was passed along.
  public func publish(on bus: some EventPublishing) throws(BusClientError) {
    try bus.publish(self)
  }

  /// Publishes the event on the bus that the program set with `EventBus.bootstrap`.
  public func publish() throws(BusClientError) {
    try EventBus.bus().publish(self)
  }
}
