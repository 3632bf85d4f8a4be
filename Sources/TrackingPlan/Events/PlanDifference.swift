public import EventModel

/// What changed from one plan to another, and whom it breaks.
public struct PlanDifference: Sendable {
  /// Whom a change breaks.
  public enum Broken: String, Hashable, Sendable {
    case nobody
    /// Programs that send: events that were in order no longer are.
    case producers
    /// Programs that read: what they could rely on may be missing or different.
    case readers
    case both
  }

  /// One thing that is not as it was.
  public struct Change: Hashable, Sendable, CustomStringConvertible {
    /// `*` for the plan as a whole.
    public var event: EventType
    /// Empty for the event as a whole.
    public var property: String
    /// What changed, in words.
    public var text: String
    /// Whom it breaks.
    public var breaks: Broken

    /// The place, the change, and whom it breaks.
    public var description: String {
      let place = property.isEmpty ? "\"\(event)\"" : "\"\(event)\", \"\(property)\""
      switch breaks {
      case .nobody: return "\(place): \(text)"
      case .both: return "\(place): \(text) (breaks producers and readers)"
      default: return "\(place): \(text) (breaks \(breaks.rawValue))"
      }
    }
  }

  /// In the order of the plans: event types first, then the collection.
  public private(set) var changes: [Change] = []

  /// Whether any change breaks somebody.
  public var isBreaking: Bool { changes.contains { $0.breaks != .nobody } }

  /// Compares event types, paths, sources of properties, exclusions and masks.
  public init(from old: PlanDocument, to new: PlanDocument) {
    compareEvents(old, new)
    compareCollection(old.collection, new.collection)
  }

  private mutating func add(
    _ event: EventType, _ property: String, _ text: String, _ breaks: Broken
  ) {
    changes.append(Change(event: event, property: property, text: text, breaks: breaks))
  }

  private static func broken(producers: Bool, readers: Bool) -> Broken {
    producers ? (readers ? .both : .producers) : readers ? .readers : .nobody
  }

  private mutating func compareEvents(_ old: PlanDocument, _ new: PlanDocument) {
    let before = Self.byName(old)
    let after = Self.byName(new)
    for event in old.events {
      if let other = after[event.name] {
        compare(event, other)
      } else {
        add(event.name, "", "removed", Self.broken(producers: !new.allowsOthers, readers: true))
      }
    }
    for event in new.events where before[event.name] == nil {
      add(event.name, "", "added", .nobody)
    }
    if old.allowsOthers, !new.allowsOthers {
      add("*", "", "events that the plan does not name are no longer in order", .producers)
    }
  }

  private static func byName(_ plan: PlanDocument) -> [EventType: EventDefinition] {
    Dictionary(plan.events.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  private mutating func compare(_ old: EventDefinition, _ new: EventDefinition) {
    for property in old.properties {
      if let other = new[property: property.name] {
        compare(property, other, of: old.name)
      } else {
        add(
          old.name, property.name, "removed",
          Self.broken(producers: !new.allowsOthers, readers: property.isRequired))
      }
    }
    for property in new.properties where old[property: property.name] == nil {
      add(
        old.name, property.name, property.isRequired ? "added, and required" : "added",
        property.isRequired ? .producers : .nobody)
    }
    if old.allowsOthers, !new.allowsOthers {
      add(
        old.name, "", "properties that the plan does not name are no longer in order", .producers)
    }
  }

  private mutating func compare(
    _ old: PropertyDefinition, _ new: PropertyDefinition, of event: EventType
  ) {
    if old.isRequired != new.isRequired {
      add(
        event, old.name, new.isRequired ? "now required" : "no longer required",
        new.isRequired ? .producers : .readers)
    }
    if old.types != new.types {
      add(
        event, old.name, "\(old.types) became \(new.types)",
        Self.broken(
          producers: !old.types.isSubset(of: new.types),
          readers: !new.types.isSubset(of: old.types)))
    }
    compareValues(old, new, of: event)
  }

  private mutating func compareValues(
    _ old: PropertyDefinition, _ new: PropertyDefinition, of event: EventType
  ) {
    switch (old.values, new.values) {
    case (nil, nil): break
    case (nil, _?): add(event, old.name, "only some values are in order now", .producers)
    case (_?, nil): add(event, old.name, "any value is in order now", .readers)
    case (let before?, let after?):
      for value in before where !after.contains(value) {
        add(event, old.name, "\"\(value)\" is no longer a value", .producers)
      }
      for value in after where !before.contains(value) {
        add(event, old.name, "\"\(value)\" is a new value", .readers)
      }
    }
  }
}

// Where events come from.
extension PlanDifference {
  private mutating func compareCollection(_ old: CollectionPlan, _ new: CollectionPlan) {
    comparePatterns(old, new)
    compareSources(old, new)
    compareRules(old.excludedPaths.map(\.text), new.excludedPaths.map(\.text), "paths excluded")
    compareRules(old.excludedScreens, new.excludedScreens, "screens excluded")
    compareRules(old.maskedNames, new.maskedNames, "values masked")
  }

  private mutating func comparePatterns(_ old: CollectionPlan, _ new: CollectionPlan) {
    let before = Self.owners(old)
    let after = Self.owners(new)
    let events = Set(after.values)
    for pattern in old.entries.flatMap(\.patterns) {
      guard let owner = before[pattern], after[pattern] != owner else { continue }
      if let other = after[pattern] {
        add(owner, "", "\(pattern.text) means \"\(other)\" now", .readers)
      } else if events.contains(owner) {
        // Views move: an old path goes, and another still means the event.
        add(owner, "", "\(pattern.text) no longer means it", .nobody)
      } else {
        add(owner, "", "\(pattern.text) no longer means it, and nothing else does", .readers)
      }
    }
    for pattern in new.entries.flatMap(\.patterns) where before[pattern] == nil {
      guard let owner = after[pattern] else { continue }
      add(owner, "", "\(pattern.text) means it now", .nobody)
    }
  }

  private mutating func compareSources(_ old: CollectionPlan, _ new: CollectionPlan) {
    let after = Self.properties(new)
    for (event, names) in Self.properties(old).sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      guard let kept = after[event] else { continue }
      for name in names.subtracting(kept).map(\.rawValue).sorted() {
        add(event, name, "no longer collected", .readers)
      }
    }
  }

  private mutating func compareRules(_ old: [String], _ new: [String], _ what: String) {
    for rule in new where !old.contains(rule) {
      add("*", "", "\(what): \(rule) is new", .readers)
    }
    for rule in old where !new.contains(rule) {
      add("*", "", "\(what): \(rule) is gone", .nobody)
    }
  }

  /// The event that each pattern means: the first entry that has it.
  private static func owners(_ plan: CollectionPlan) -> [EventPathPattern: EventType] {
    Dictionary(
      plan.entries.flatMap { entry in entry.patterns.map { ($0, entry.event) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// Names as `EventType`, which is compared by bytes.
  private static func properties(_ plan: CollectionPlan) -> [EventType: Set<EventType>] {
    Dictionary(
      plan.entries.map { ($0.event, Set($0.properties.map { EventType($0.name) })) },
      uniquingKeysWith: { $0.union($1) })
  }
}
