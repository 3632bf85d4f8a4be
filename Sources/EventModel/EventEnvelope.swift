public import Primitives

/// One event as it is everywhere, every field at hand. A null that was given is kept apart from an
/// absent field, and `properties` that are empty from none.
///
/// For work on single events; what moves many keeps their bytes. Equal when every field is: the order of
/// keys inside objects counts, as it is kept.
public struct EventEnvelope: Hashable, Sendable {
  private var known: [PropertyValue?]
  /// Fields that have no meaning here, kept as they came.
  public var others: PropertyObject

  public var kind: EventKind {
    didSet { known[EnvelopeField.type.rawValue] = .string(kind.rawValue) }
  }

  public init(_ kind: EventKind) {
    self.kind = kind
    known = [PropertyValue?](repeating: nil, count: EnvelopeField.allCases.count)
    known[EnvelopeField.type.rawValue] = .string(kind.rawValue)
    others = PropertyObject()
  }

  /// A track event.
  public init(_ event: EventType, properties: PropertyObject? = nil) {
    self.init(.track)
    self.event = event.rawValue
    self.properties = properties
  }

  /// The field as it is: nil where it is absent, `.null` where null was given.
  public subscript(field: EnvelopeField) -> PropertyValue? {
    get { known[field.rawValue] }
    set {
      precondition(field != .type, "the type of an envelope is set by `kind`")
      known[field.rawValue] = newValue
    }
  }

  /// The name under which the event travels: the event's own, or `$` and the kind.
  public var topic: String { kind.topic ?? event ?? "" }
}

// The fields by their usual types. Nil where a field is absent, null, or of another type; setting nil
// takes it out.
extension EventEnvelope {
  public var event: String? {
    get { text(.event) }
    set { set(.event, newValue) }
  }
  public var messageId: String? {
    get { text(.messageId) }
    set { set(.messageId, newValue) }
  }
  public var userId: String? {
    get { text(.userId) }
    set { set(.userId, newValue) }
  }
  public var anonymousId: String? {
    get { text(.anonymousId) }
    set { set(.anonymousId, newValue) }
  }
  public var originalTimestamp: String? {
    get { text(.originalTimestamp) }
    set { set(.originalTimestamp, newValue) }
  }
  public var timestamp: Timestamp? {
    get { time(.timestamp) }
    set { set(.timestamp, newValue) }
  }
  public var sentAt: Timestamp? {
    get { time(.sentAt) }
    set { set(.sentAt, newValue) }
  }
  public var receivedAt: Timestamp? {
    get { time(.receivedAt) }
    set { set(.receivedAt, newValue) }
  }
  public var properties: PropertyObject? {
    get { self[.properties]?.objectValue }
    set { self[.properties] = newValue.map(PropertyValue.object) }
  }
  public var traits: PropertyObject? {
    get { self[.traits]?.objectValue }
    set { self[.traits] = newValue.map(PropertyValue.object) }
  }

  private func text(_ field: EnvelopeField) -> String? { self[field]?.stringValue }

  private mutating func set(_ field: EnvelopeField, _ value: String?) {
    self[field] = value.map(PropertyValue.string)
  }

  private func time(_ field: EnvelopeField) -> Timestamp? {
    if case .date(let time)? = self[field] { time } else { nil }
  }

  private mutating func set(_ field: EnvelopeField, _ value: Timestamp?) {
    self[field] = value.map(PropertyValue.date)
  }
}
