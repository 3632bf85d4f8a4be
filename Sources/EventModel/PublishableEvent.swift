public import Primitives

/// An event that a program publishes.
///
/// A minimal one is three lines:
/// ```swift
/// extension EventType {
///   struct GameReset: PublishableEvent { static let eventType: EventType = "Game Reset" }
/// }
/// ```
/// Properties come from one of three places, the fastest first: `encodeProperties(into:)` written by
/// hand (or generated), `eventProperties`, or the event's own `Encodable`.
public protocol PublishableEvent: Sendable {
  /// The name that all events of this Swift type share.
  static var eventType: EventType { get }

  /// The name of this one. Differs from the static one only for ``AnalyticsEvent``.
  var eventType: EventType { get }

  /// When it happened, where the event itself knows; nil, the default, is the moment of the call.
  var eventTimestamp: Timestamp? { get }

  /// The properties as values; nil when the event has none, which is not the same as an empty set.
  var eventProperties: PropertyObject? { get }

  /// Writes the properties. Neither keys nor values are kept beyond the call.
  func encodeProperties(into writer: inout PropertyWriter) throws(EventEncodingError)
}

extension PublishableEvent {
  public var eventType: EventType { Self.eventType }

  public var eventTimestamp: Timestamp? { nil }

  public var eventProperties: PropertyObject? { nil }

  public func encodeProperties(into writer: inout PropertyWriter) throws(EventEncodingError) {
    if let eventProperties { writer.write(contentsOf: eventProperties) }
  }
}

extension PublishableEvent where Self: Encodable {
  /// `eventProperties` where the event has them, else all that its `encode(to:)` writes.
  public func encodeProperties(into writer: inout PropertyWriter) throws(EventEncodingError) {
    if let eventProperties {
      writer.write(contentsOf: eventProperties)
    } else {
      try PropertyEncoder.encode(self, into: &writer)
    }
  }
}
