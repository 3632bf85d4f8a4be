internal import EventModel
internal import TrackingPlan

/// Decides what becomes of what happens: the plan in force, and the counts. No views and no clock.
struct AutoTrackerCore {
  /// What a view's chain told of one event.
  struct Observation {
    var path: EventPath
    var texts: [EventPath.State] = []
    /// Nothing but the place may be told.
    var isMasked = false
  }

  private let configuration: AutoTrackingConfiguration
  /// What the app itself says, for as long as there is no plan.
  private let ownRules: CollectionRules
  private(set) var feed = PlanFeed()
  private var rules: CollectionRules?
  private(set) var metrics = AutoTrackingMetrics()
  private(set) var unmapped: UnmappedPaths

  init(_ configuration: AutoTrackingConfiguration) {
    self.configuration = configuration
    ownRules = Self.rules(CollectionPlan(), configuration)
    unmapped = UnmappedPaths(maximum: configuration.maximumUnmappedPaths)
  }

  /// A plan, and what the app excludes and masks whatever the plan says.
  private static func rules(
    _ plan: CollectionPlan, _ configuration: AutoTrackingConfiguration
  ) -> CollectionRules {
    var plan = plan
    plan.excludedScreens += configuration.excludedScreens
    plan.maskedNames += configuration.maskedNames
    return CollectionRules(plan)
  }

  /// Takes a plan; the next event is decided by it.
  mutating func apply(_ plan: PublishedPlan) -> PlanFeed.Outcome {
    let outcome = feed.take(plan)
    take(outcome)
    return outcome
  }

  /// Takes one `$plan` event of the bus.
  mutating func apply(_ properties: PropertyObject?) -> PlanFeed.Outcome {
    let outcome = feed.take(properties)
    take(outcome)
    return outcome
  }

  private mutating func take(_ outcome: PlanFeed.Outcome) {
    guard case .replaced(let plan) = outcome else { return }
    rules = Self.rules(plan.document.collection, configuration)
    // Under another plan other paths are unmapped.
    unmapped = UnmappedPaths(maximum: configuration.maximumUnmappedPaths)
  }

  /// A control or a screen that is never reported was used.
  mutating func countExcluded() {
    metrics.seen += 1
    metrics.excluded += 1
  }

  /// The key paths that the event of this observation would have: read before ``take(_:read:)``.
  func keyPaths(of observation: Observation) -> [[String]] {
    guard let rules, !observation.isMasked,
      case .event(let entry, _) = rules.decide(observation.path, texts: observation.texts)
    else { return [] }
    return entry.properties.compactMap { property in
      guard case .keyPath(let keys) = property.source else { return nil }
      return rules.masks(keys) ? nil : keys
    }
  }

  /// The event to send, if any.
  ///
  /// - Parameter read: the value that a key path has now.
  mutating func take(
    _ observation: Observation, read: ([String]) -> PropertyValue?
  ) -> AnalyticsEvent? {
    metrics.seen += 1
    guard let rules else { return raw(observation.path) }
    switch rules.decide(observation.path, texts: observation.isMasked ? [] : observation.texts) {
    case .excluded:
      metrics.excluded += 1
      return nil
    case .unmapped:
      metrics.unmapped += 1
      unmapped.add(observation.path)
      return nil
    case .event(let entry, let path):
      metrics.sent += 1
      var properties = rules.properties(entry, of: path)
      for property in entry.properties {
        guard case .keyPath(let keys) = property.source else { continue }
        if !observation.isMasked, !rules.masks(keys), let value = read(keys) {
          properties[property.name] = value
        } else {
          metrics.unreadableValues += 1
        }
      }
      if configuration.includesPath { properties[RawPaths.property] = .string(path.text) }
      return AnalyticsEvent(entry.event, properties: properties)
    }
  }

  private mutating func raw(_ path: EventPath) -> AnalyticsEvent? {
    guard !ownRules.isExcluded(path) else {
      metrics.excluded += 1
      return nil
    }
    guard configuration.reportsRawPaths else {
      metrics.unmapped += 1
      unmapped.add(path)
      return nil
    }
    metrics.raw += 1
    let path = path.replacingState(path.state.filter { !ownRules.isMasked($0.name) })
    return AnalyticsEvent(
      RawPaths.eventName,
      properties: PropertyObject([.init(RawPaths.property, .string(path.text))]))
  }
}

extension CollectionRules {
  /// Whether a key path passes through a masked name. Its first key is a role, not a name.
  fileprivate func masks(_ keys: [String]) -> Bool { keys.dropFirst().contains(where: isMasked) }
}
