public import EventModel
internal import Primitives

/// Which events a destination gets, and what they and their properties are called there.
///
/// An event goes out when one of `include` matches (or there is none) and none of `exclude` does; both
/// see the name on the bus (`$identify` and the like for what is not a track). Then a track is renamed,
/// and all property rules whose events match are applied in their order.
public struct DestinationMapping: Hashable, Sendable {
  /// What one rule does with the properties (and traits) of some events, at their top level.
  public struct PropertyRule: Hashable, Sendable {
    /// Empty: all events.
    public var events: [EventPattern]
    /// Empty: all properties stay, else those that one of them matches.
    public var keep: [EventPattern]
    public var drop: [EventPattern]
    /// From the old key to the new one; after `keep` and `drop`.
    public var rename: [[UInt8]: [UInt8]]

    public init(
      events: [EventPattern] = [], keep: [EventPattern] = [], drop: [EventPattern] = [],
      rename: [[UInt8]: [UInt8]] = [:]
    ) {
      self.events = events
      self.keep = keep
      self.drop = drop
      self.rename = rename
    }
  }

  public var include: [EventPattern] = []
  public var exclude: [EventPattern] = []
  public var rename: [[UInt8]: [UInt8]] = [:]
  public var properties: [PropertyRule] = []

  public init() {}

  /// What it means for events of one name.
  func plan(for name: RawSpan) -> EventPlan {
    EventPlan(
      isWanted: (include.isEmpty || include.match(name)) && !exclude.match(name),
      name: rename.isEmpty ? nil : rename[name.copied()],
      properties: PropertyPlan(
        rules: properties.filter { $0.events.isEmpty || $0.events.match(name) }))
  }
}

/// The mapping of one event name.
struct EventPlan: Sendable {
  var isWanted: Bool
  /// The name at the destination, where it is another.
  var name: [UInt8]?
  var properties: PropertyPlan
}

/// The plans of the names seen so far.
struct EventPlans: Sendable {
  let mapping: DestinationMapping
  private var names = ByteInterner()
  private var plans: [EventPlan] = []
  /// The bus has at most 100,000 names; beyond these few the table starts anew.
  private static let most = 10_000

  init(_ mapping: DestinationMapping) { self.mapping = mapping }

  mutating func plan(for name: RawSpan) -> EventPlan {
    if let number = names.find(name) { return plans[number] }
    if plans.count == Self.most {
      names.removeAll()
      plans.removeAll(keepingCapacity: true)
    }
    _ = names.intern(name)
    plans.append(mapping.plan(for: name))
    return plans[plans.count - 1]
  }
}

extension [EventPattern] {
  /// Whether one of them does.
  func match(_ name: RawSpan) -> Bool { contains { $0.matches(name) } }
}
