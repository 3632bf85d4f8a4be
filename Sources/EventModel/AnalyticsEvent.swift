public import Primitives

/// An event put together where it happens: a name, a time, and properties of mixed types.
///
/// `Codable` as `{"name", "timestamp", "properties"}`. Foundation's JSON coders know no difference
/// between `1` and `1.0`; everything of this package does.
public struct AnalyticsEvent: PublishableEvent, Hashable {
  /// Stands for the Swift type as a whole; each event has its own name.
  public static let eventType: EventType = "Analytics Event"

  public var eventType: EventType
  /// When it happened.
  public var timestamp: Timestamp
  public var eventProperties: PropertyObject?

  public init(
    _ eventType: EventType, timestamp: Timestamp = .now(), properties: PropertyObject? = nil
  ) {
    self.eventType = eventType
    self.timestamp = timestamp
    eventProperties = properties
  }

  public init(
    name: String, timestamp: Timestamp = .now(), properties: PropertyObject? = nil
  ) {
    self.init(EventType(name), timestamp: timestamp, properties: properties)
  }

  public var name: String { eventType.rawValue }

  public var eventTimestamp: Timestamp? { timestamp }
}

extension AnalyticsEvent: Codable {
  private enum CodingKeys: String, CodingKey { case name, timestamp, properties }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      name: try container.decode(String.self, forKey: .name),
      timestamp: try container.decode(Timestamp.self, forKey: .timestamp),
      properties: try container.decodeIfPresent(PropertyObject.self, forKey: .properties))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(timestamp, forKey: .timestamp)
    try container.encodeIfPresent(eventProperties, forKey: .properties)
  }

  /// Its properties alone: name and time are the envelope's.
  public func encodeProperties(into writer: inout PropertyWriter) throws(EventEncodingError) {
    if let eventProperties { writer.write(contentsOf: eventProperties) }
  }
}
