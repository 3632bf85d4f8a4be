/// Where in the chain a plugin stands.
///
/// ```
/// send ─▶ before ─▶ enrichment ─▶ the event's own closure ─┬▶ destination("http") ─▶ provider ─┐
///                                                          └▶ destination("bus")  ─▶ provider ─┴▶ after
/// ```
public enum AnalyticsPluginStage: Sendable, Hashable {
  /// First: to drop what is not wanted before anybody works on it.
  case before
  /// Adds to events, or changes them, for all providers.
  case enrichment
  /// For the provider of this name alone: others get the event as it was.
  case destination(String)
  /// Sees what at least one provider got; what it returns counts for nothing.
  case after
}

/// Drops or changes events on their way from `send` to the providers.
///
/// Plugins of one stage run in the order in which they were given, on the service's thread, one event at a
/// time, in the order of tracking. An event that a plugin made unusable (no name, too large) is counted
/// as refused.
public protocol AnalyticsPlugin: Sendable {
  var stage: AnalyticsPluginStage { get }

  /// The event to go on with; nil drops it, which is counted.
  func process(_ event: EventEnvelope) -> EventEnvelope?
}

/// A plugin that is a closure.
public struct AnalyticsClosurePlugin: AnalyticsPlugin {
  /// Where it stands.
  public let stage: AnalyticsPluginStage
  private let body: @Sendable (EventEnvelope) -> EventEnvelope?

  /// - Parameter body: as ``AnalyticsPlugin/process(_:)``.
  public init(
    _ stage: AnalyticsPluginStage, _ body: @escaping @Sendable (EventEnvelope) -> EventEnvelope?
  ) {
    self.stage = stage
    self.body = body
  }

  /// Calls the closure.
  public func process(_ event: EventEnvelope) -> EventEnvelope? { body(event) }
}

/// The plugins of a service, by stage.
struct PluginChain: Sendable {
  private let plugins: [any AnalyticsPlugin]
  /// Without any, events need not be decoded on their way.
  private let stages: Set<AnalyticsPluginStage>

  init(_ plugins: [any AnalyticsPlugin]) {
    self.plugins = plugins
    stages = Set(plugins.map(\.stage))
  }

  func has(_ stage: AnalyticsPluginStage) -> Bool { stages.contains(stage) }

  func run(_ stage: AnalyticsPluginStage, _ event: EventEnvelope) -> EventEnvelope? {
    var event = event
    for plugin in plugins where plugin.stage == stage {
      guard let next = plugin.process(event) else { return nil }
      event = next
    }
    return event
  }
}
