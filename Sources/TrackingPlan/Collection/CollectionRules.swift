public import EventModel

/// A collection plan made ready: says of each path what becomes of it, in some microseconds, however
/// long the plan is. A value; any thread.
public struct CollectionRules: Sendable {
  /// What becomes of a path.
  public enum Decision: Sendable, Hashable {
    /// Nothing may be reported from there.
    case excluded
    /// No entry means it.
    case unmapped
    /// It is an event of this entry. The path has no text but what its pattern asks for, and nothing
    /// that is masked.
    case event(CollectionPlan.Entry, EventPath)
  }

  /// What it was made of.
  public let plan: CollectionPlan
  private let matcher: EventPathMatcher
  /// For each pattern, the entry that it is of, and which.
  private let owners: [(entry: Int, pattern: EventPathPattern)]
  private let exclusions: EventPathMatcher
  private let screens: [EventPattern]
  private let masked: [EventPattern]

  /// Some microseconds a pattern.
  public init(_ plan: CollectionPlan) {
    self.plan = plan
    owners = plan.entries.enumerated().flatMap { number, entry in
      entry.patterns.map { (number, $0) }
    }
    matcher = EventPathMatcher(owners.map(\.pattern))
    exclusions = EventPathMatcher(plan.excludedPaths)
    screens = plan.excludedScreens.map { EventPattern($0) }
    masked = plan.maskedNames.map { EventPattern($0) }
  }

  /// - Parameter texts: states that hold what a person reads or wrote, as a button's title: they are
  ///   looked at where a pattern names them, and reported only then.
  public func decide(_ path: EventPath, texts: [EventPath.State] = []) -> Decision {
    if isExcluded(path) { return .excluded }
    // Nearly always nothing is masked, and there is no text: the path is what is looked at.
    let isPlain = !path.state.contains { isMasked($0.name) }
    let whole =
      isPlain && texts.isEmpty
      ? path : path.replacingState((texts + path.state).filter { !isMasked($0.name) })
    // The text of an element can be what is excluded.
    if !texts.isEmpty, exclusions.firstMatch(whole) != nil { return .excluded }
    guard let number = matcher.firstMatch(whole) else { return .unmapped }
    let asked = owners[number].pattern.stateNames
    let kept = texts.filter { asked.contains($0.name) && !isMasked($0.name) }
    let entry = plan.entries[owners[number].entry]
    if isPlain, kept.isEmpty { return .event(entry, path) }
    return .event(entry, path.replacingState(kept + path.state.filter { !isMasked($0.name) }))
  }

  /// Whether nothing may be reported from this place.
  public func isExcluded(_ path: EventPath) -> Bool {
    if exclusions.firstMatch(path) != nil { return true }
    guard !screens.isEmpty else { return false }
    return path.segments.contains { segment in
      let name = Array(segment.name.utf8)
      return screens.contains { $0.matches(name) }
    }
  }

  /// Whether values of that name must not leave the app.
  public func isMasked(_ name: String) -> Bool {
    guard !masked.isEmpty else { return false }
    let name = Array(name.utf8)
    return masked.contains { $0.matches(name) }
  }

  /// The properties of an entry that need no view: constants, and the path's states and parameters.
  public func properties(_ entry: CollectionPlan.Entry, of path: EventPath) -> PropertyObject {
    var object = PropertyObject()
    for property in entry.properties {
      switch property.source {
      case .constant(let value): object[property.name] = value
      case .state(let name): object[property.name] = path.value(of: name).map(PropertyValue.string)
      case .keyPath: break
      }
    }
    return object
  }
}
