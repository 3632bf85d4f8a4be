public import EventModel

/// Makes a plan of the events that are there: their names, properties, types, and what is always given.
///
/// Bounded: ``PlanLimits/maximumEvents`` names, ``PlanLimits/maximumProperties`` properties of each; what
/// comes beyond is counted.
public struct PlanInference: Sendable {
  private struct Seen: Sendable {
    var number: Int
    var types: PlanTypes = []
    var count = 0
    /// Nil once there are too many, or one that is no text.
    var values: Set<Key>? = []
  }

  private struct Event: Sendable {
    var count = 0
    var properties: [Key: Seen] = [:]
  }

  /// A text by its bytes, as event names are compared.
  private typealias Key = EventType

  private var events: [EventType: Event] = [:]
  private let maximumValues: Int
  /// Events read so far.
  public private(set) var count = 0
  /// Events and properties that found no room.
  public private(set) var leftOut = 0

  /// - Parameter maximumValues: a text property that was seen ten times as often as it has values, which
  ///   are at most so many, gets them as the only ones. 0: none does.
  public init(maximumValues: Int = 0) { self.maximumValues = maximumValues }

  /// Takes one event. The path that automatic tracking adds is no property of the product's, and what the bus
  /// says to its own sinks (`$forget`, `$plan`) is no event of it.
  public mutating func take(_ name: EventType, _ properties: PropertyObject?) {
    guard name != PublishedPlan.eventName, Self.mayBePlanned(name) else { return }
    count += 1
    guard events[name] != nil || events.count < PlanLimits.maximumEvents else {
      leftOut += 1
      return
    }
    var event = events.removeValue(forKey: name) ?? Event()
    event.count += 1
    for member in properties?.members ?? [] where member.key != RawPaths.property {
      take(member, into: &event)
    }
    events[name] = event
  }

  private static func mayBePlanned(_ name: EventType) -> Bool {
    do throws(EventNameError) {
      try EventName.validate(name.rawValue)
      return true
    } catch {
      return false
    }
  }

  private mutating func take(_ member: PropertyObject.Member, into event: inout Event) {
    let key = Key(member.key)
    guard event.properties[key] != nil || event.properties.count < PlanLimits.maximumProperties
    else {
      leftOut += 1
      return
    }
    var seen = event.properties.removeValue(forKey: key) ?? Seen(number: event.properties.count)
    seen.count += 1
    seen.types.formUnion(PlanTypes(member.value))
    if case .string(let text) = member.value, text.utf8.count <= 100 {
      seen.values?.insert(Key(text))
      if seen.values?.count ?? 0 > maximumValues { seen.values = nil }
    } else {
      seen.values = nil
    }
    event.properties[key] = seen
  }

  /// The plan of what was read, as its first version: names in the order of their bytes, properties in
  /// the order in which they came.
  public var plan: PlanDocument {
    var plan = PlanDocument(version: 1)
    for (name, event) in events.sorted(by: { Self.precedes($0.key, $1.key) }) {
      var definition = EventDefinition(name)
      for (key, seen) in event.properties.sorted(by: { $0.value.number < $1.value.number }) {
        definition.properties.append(Self.property(key.rawValue, seen, of: event))
      }
      plan.events.append(definition)
    }
    return plan
  }

  private static func property(
    _ name: String, _ seen: Seen, of event: Event
  ) -> PropertyDefinition {
    var types = seen.types
    // Half of a kind is chance: what was text or a number once is so from now on.
    if types.contains(.otherText) { types.formUnion(.string) }
    if types.contains(.fraction) { types.formUnion(.number) }
    // Nothing but null says nothing about what it will be.
    if types == .null { types = .any }
    var property = PropertyDefinition(name, types)
    property.isRequired = seen.count == event.count && types != .any
    // Times differ with each event, however few there were.
    if seen.types == .otherText, let values = seen.values, !values.isEmpty,
      seen.count >= 10 * values.count
    {
      property.values = values.sorted(by: precedes).map(\.rawValue)
    }
    return property
  }

  private static func precedes(_ a: EventType, _ b: EventType) -> Bool {
    a.rawValue.utf8.lexicographicallyPrecedes(b.rawValue.utf8)
  }
}
