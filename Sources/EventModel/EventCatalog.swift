/// The event types that a program knows: for decoding by name, for the tracking plan and for shell
/// completion. Lookup is by the exact bytes of the name.
public struct EventCatalog: Sendable {
  private var types: [EventType: any SubscribableEvent.Type] = [:]
  /// In the order in which they were added.
  public private(set) var allEventTypes: [EventType] = []

  /// Traps when two Swift types have one name: which of them would decode is nobody's guess.
  public init(_ events: [any SubscribableEvent.Type] = []) {
    for event in events { add(event) }
  }

  public mutating func add(_ event: any SubscribableEvent.Type) {
    let type = event.eventType
    precondition(types[type] == nil, "two event types are called \(type)")
    types[type] = event
    allEventTypes.append(type)
  }

  /// The type called `name`, with its names at destinations.
  public func eventType(named name: String) -> EventType? {
    allEventTypes.first { $0.rawValue.hasSameBytes(name) }
  }

  /// The typed event, or nil when no type is called `name`.
  public func decode(
    _ name: EventType, properties: PropertyReader
  ) throws(EventDecodingError) -> (any SubscribableEvent)? {
    guard let type = types[name] else { return nil }
    return try type.init(properties: properties)
  }
}
