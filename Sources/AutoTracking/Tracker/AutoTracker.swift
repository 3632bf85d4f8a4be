public import Analytics
public import EventModel
public import TrackingPlan
internal import Synchronization

/// Turns what happens in an interface into events, without the app implementing anything.
///
/// ```swift
/// let tracker = AutoTracker(sendingTo: analytics)
/// tracker.observeUIKit()                          // controls, gestures, screens, alerts, cells
/// let follower = try PlanFollower("https://events.example.com/v1/plan", for: tracker)
/// ```
/// An event goes the same way whatever it is: the responder chain gives the path (`EventPath`), the
/// collection plan says which event the path means and which properties it has, and the service sends it.
/// Without a plan nothing is reported, unless ``AutoTrackingConfiguration/reportsRawPaths`` says so. A new
/// plan takes effect with the next event.
///
/// ``record(_:sender:from:state:texts:)`` belongs to the main actor, as views do, and takes some tens of
/// microseconds; all else may be called from anywhere.
public final class AutoTracker: Sendable {
  private let analytics: any AnalyticsEventSending
  private let core: Mutex<AutoTrackerCore>

  /// - Parameter analytics: the app's service or client.
  public init(
    sendingTo analytics: any AnalyticsEventSending,
    _ configuration: AutoTrackingConfiguration = AutoTrackingConfiguration()
  ) {
    self.analytics = analytics
    core = Mutex(AutoTrackerCore(configuration))
  }

  /// Takes a plan; it counts if its version is higher than that of the plan in force.
  @discardableResult
  public func apply(_ plan: PublishedPlan) -> PlanFeed.Outcome {
    core.withLock { $0.apply(plan) }
  }

  /// Takes the properties of a `$plan` event, for apps that read the bus themselves.
  @discardableResult
  public func apply(planEvent properties: PropertyObject?) -> PlanFeed.Outcome {
    core.withLock { $0.apply(properties) }
  }

  /// The plan in force.
  public var plan: PublishedPlan? { core.withLock { $0.feed.current } }

  /// What it has seen and sent.
  public var metrics: AutoTrackingMetrics { core.withLock { $0.metrics } }

  /// Places that the plan in force does not list, the most frequent first: for a developer's own menu.
  public func unmappedPaths(_ limit: Int = 100) -> [UnmappedPaths.Count] {
    core.withLock { $0.unmapped.most(limit) }
  }

  /// Something happened. Frameworks that are not UIKit call it where their controls act.
  ///
  /// - Parameters:
  ///   - sender: the class of what acted; nil: the responder's own.
  ///   - responder: where it happened; its chain is followed to the application.
  ///   - state: what the responder does not know itself, as the row of the cell.
  ///   - texts: the same of what a person reads, as the title of an alert's answer.
  @MainActor
  public func record(
    _ action: TrackedAction, sender: String? = nil, from responder: any TrackedResponder,
    state: [EventPath.State] = [], texts: [EventPath.State] = []
  ) {
    let chain = ResponderChain(from: responder)
    guard chain.privacy < .excluded else { return core.withLock { $0.countExcluded() } }
    let isMasked = chain.privacy == .masked
    let path = EventPath(
      action: action.rawValue, sender: sender ?? responder.trackedName, chain: chain.segments,
      state: isMasked
        ? [] : responder.trackedState + state + chain.responders.flatMap(\.trackedParameters))
    let observation = AutoTrackerCore.Observation(
      path: path, texts: isMasked ? [] : responder.trackedTexts + texts, isMasked: isMasked)
    // Key paths are read outside of the lock: a getter of the app's may do anything.
    let keyPaths = core.withLock { $0.keyPaths(of: observation) }
    var values: [[String]: PropertyValue] = [:]
    for keys in keyPaths {
      guard let root = chain.root(keys[0]) else { continue }
      values[keys] = KeyPathReader.value(keys.dropFirst(), from: root)
    }
    let event = core.withLock { core in core.take(observation) { values[$0] } }
    if let event { analytics.send(event) }
  }
}
