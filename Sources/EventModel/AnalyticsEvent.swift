/// An event put together where it happens: a name and properties of mixed types.
public struct AnalyticsEvent: PublishableEvent, Hashable {
  /// Stands for the Swift type as a whole; each event has its own name.
  public static let eventType: EventType = "Analytics Event"

  public var eventType: EventType
  public var eventProperties: PropertyObject?

  public init(_ eventType: EventType, properties: PropertyObject? = nil) {
    self.eventType = eventType
    eventProperties = properties
  }

  public init(name: String, properties: PropertyObject? = nil) {
    self.init(EventType(name), properties: properties)
  }
}
