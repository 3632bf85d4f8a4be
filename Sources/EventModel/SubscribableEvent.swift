/// An event that a program reads back from the bus, typed.
public protocol SubscribableEvent: Sendable {
  static var eventType: EventType { get }

  /// Makes the event from the properties that travelled, which others may have written: check what
  /// matters and throw. Properties that the type does not know are ignored.
  init(properties: PropertyReader) throws(EventDecodingError)
}

extension SubscribableEvent where Self: Decodable {
  /// Through the event's own `init(from:)`; slower than reading by hand.
  public init(properties: PropertyReader) throws(EventDecodingError) {
    self = try PropertyDecoder.decode(Self.self, from: properties)
  }
}
