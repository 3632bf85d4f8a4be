public import EventModel

/// Events that tell where they happened and not what they mean, from clients without a plan.
///
/// Either the event's name is the path, which must then have at most 200 bytes, or the event is called
/// ``eventName`` and has the path as property ``property``. What the plan says of the path is then done
/// where the event comes in.
public enum RawPaths {
  /// The name of events whose path is a property.
  public static let eventName: EventType = "$autotrack"
  /// The property with the path's text. It stays when the event has got its name, so that another plan
  /// can be tried over recorded events.
  public static let property = "$path"

  /// Whether an event of this name can have a raw path.
  public static func canHave(_ topic: [UInt8]) -> Bool {
    topic.first == UInt8(ascii: "#") || topic == Self.topic
  }

  private static let topic = Array(eventName.rawValue.utf8)

  /// What the plan makes of an event.
  public enum Outcome: Hashable, Sendable {
    /// It has no raw path: it stays as it is.
    case other
    /// It has a name and properties now, and the path without what is masked.
    case mapped
    /// No entry means it: it stays as it is, and somebody should map it.
    case unmapped(EventPath)
    /// Nothing may be reported from there: it must not go on.
    case excluded(EventPath)
  }

  /// The path of a track event, if it has a raw one.
  public static func path(of event: EventEnvelope) -> EventPath? {
    guard event.kind == .track, let name = event.event else { return nil }
    if name.utf8.first == UInt8(ascii: "#") { return EventPath(name) }
    guard EventType(name) == eventName else { return nil }
    return event.properties?[property]?.stringValue.flatMap { EventPath($0) }
  }

  /// The path of an event that was mapped already, here or in the app.
  public static func recordedPath(of event: EventEnvelope) -> EventPath? {
    path(of: event) ?? event.properties?[property]?.stringValue.flatMap { EventPath($0) }
  }

  /// Gives an event with a raw path the name and the properties that the plan has for it. Properties of
  /// its own win.
  public static func map(_ event: inout EventEnvelope, by rules: CollectionRules) -> Outcome {
    guard let path = path(of: event) else { return .other }
    switch rules.decide(path) {
    case .excluded: return .excluded(path)
    case .unmapped: return .unmapped(path)
    case .event(let entry, let kept):
      var properties = event.properties ?? PropertyObject()
      properties[property] = .string(kept.text)
      event.properties = properties.merging(rules.properties(entry, of: kept))
      event.event = entry.event.rawValue
      return .mapped
    }
  }
}

/// Counts paths that no entry means, so that somebody can map them. State is left out: it would make
/// one place many.
public struct UnmappedPaths: Sendable {
  /// A place and how often something happened there.
  public struct Count: Hashable, Sendable {
    /// The path's text, without state.
    public var path: String
    /// How many events.
    public var count: UInt64

    /// A place with its count.
    public init(path: String, count: UInt64) {
      self.path = path
      self.count = count
    }
  }

  private let maximum: Int
  private var counts: [EventType: UInt64] = [:]
  /// All of them, whether counted apart or not.
  public private(set) var total: UInt64 = 0
  /// Those for which there was no room to be counted apart.
  public private(set) var others: UInt64 = 0

  /// - Parameter maximum: different paths that are counted apart, about 500 bytes each.
  public init(maximum: Int = 10_000) { self.maximum = maximum }

  /// Counts one event.
  public mutating func add(_ path: EventPath) {
    total += 1
    // Compared by bytes, as all names are.
    let key = EventType((path.state.isEmpty ? path : path.replacingState([])).text)
    if counts[key] != nil || counts.count < maximum {
      counts[key, default: 0] += 1
    } else {
      others += 1
    }
  }

  /// How many different ones are counted apart.
  public var distinct: Int { counts.count }

  /// The most frequent first; ties in the order of the texts.
  public func most(_ limit: Int = .max) -> [Count] {
    let sorted = counts.map { Count(path: $0.key.rawValue, count: $0.value) }
      .sorted { ($1.count, $0.path) < ($0.count, $1.path) }
    return Array(sorted.prefix(limit))
  }
}
