internal import BusProtocol
internal import EventModel
internal import HTTPServer
internal import Synchronization
internal import TrackingPlan

/// The plan in force, what was counted under it, and the requests that wait for another one.
final class PlanHolder: Sendable {
  private struct Waiter: Sendable {
    var id: UInt64
    var answer: @Sendable (HTTPResponse) -> Void
  }

  private struct State {
    var feed = PlanFeed()
    var rules = CollectionRules(CollectionPlan())
    /// Where the journal has the newest copy of the plan; nil while only the file does.
    var position: Position?
    var metrics = CollectorMetrics.Plan()
    var unmapped = UnmappedPaths(maximum: PlanHolder.maximumPaths)
    var waiters: [Waiter] = []
    var nextWaiter: UInt64 = 0
  }

  /// Different unmapped paths that are counted apart.
  static let maximumPaths = 10_000
  /// Requests that wait for another plan; one more is answered at once.
  static let maximumWaiters = 1000

  private let state = Mutex(State())

  /// Takes an event of the bus, or a plan of the file.
  func take(_ properties: PropertyObject?, at position: Position) -> PlanFeed.Outcome {
    take(position) { $0.take(properties) }
  }

  func take(_ plan: PublishedPlan) -> PlanFeed.Outcome { take(nil) { $0.take(plan) } }

  private func take(
    _ position: Position?, _ body: (inout PlanFeed) -> PlanFeed.Outcome
  ) -> PlanFeed.Outcome {
    let (outcome, waiters) = state.withLock { state -> (PlanFeed.Outcome, [Waiter]) in
      let outcome = body(&state.feed)
      switch outcome {
      case .replaced(let plan):
        state.position = position
        state.rules = CollectionRules(plan.document.collection)
        state.metrics.version = plan.document.version
        // Under another plan other paths are unmapped.
        state.unmapped = UnmappedPaths(maximum: Self.maximumPaths)
        let waiters = state.waiters
        state.waiters = []
        return (outcome, waiters)
      case .repeated:
        state.position = position ?? state.position
      case .refused: state.metrics.refused += 1
      case .partial, .older: break
      }
      return (outcome, [])
    }
    if !waiters.isEmpty, case .replaced(let plan) = outcome {
      let response = PlanAnswer.response(plan)
      for waiter in waiters { waiter.answer(response) }
    }
    return outcome
  }

  var current: PublishedPlan? { state.withLock { $0.feed.current } }

  var currentPlace: (plan: PublishedPlan, position: Position?)? {
    state.withLock { state in state.feed.current.map { ($0, state.position) } }
  }

  var metrics: CollectorMetrics.Plan {
    state.withLock { state in
      var metrics = state.metrics
      metrics.unmappedPaths = state.unmapped.distinct
      return metrics
    }
  }

  func unmapped(_ limit: Int) -> [UnmappedPaths.Count] {
    state.withLock { $0.unmapped.most(limit) }
  }

  /// What the plan makes of an event with a raw path, counted.
  func map(_ event: inout EventEnvelope) -> RawPaths.Outcome {
    let rules = state.withLock { $0.rules }
    let outcome = RawPaths.map(&event, by: rules)
    state.withLock { state in
      switch outcome {
      case .other: break
      case .mapped: state.metrics.mapped += 1
      case .unmapped(let path):
        state.metrics.unmapped += 1
        state.unmapped.add(path)
      case .excluded: state.metrics.excluded += 1
      }
    }
    return outcome
  }

  /// Waits for a plan other than the one called `tag`. Nil: there is one already, or no room.
  func wait(_ tag: String, _ answer: @escaping @Sendable (HTTPResponse) -> Void) -> UInt64? {
    state.withLock { state in
      guard state.feed.current?.tag == tag, state.waiters.count < Self.maximumWaiters else {
        return nil
      }
      state.nextWaiter += 1
      state.waiters.append(Waiter(id: state.nextWaiter, answer: answer))
      return state.nextWaiter
    }
  }

  var waiting: Int { state.withLock { $0.waiters.count } }

  /// Answers all who wait: the collector stops.
  func endWaiting() {
    let (plan, waiters) = state.withLock { state in
      let waiters = state.waiters
      state.waiters = []
      return (state.feed.current, waiters)
    }
    guard let plan else { return }
    for waiter in waiters { waiter.answer(PlanAnswer.unchanged(plan)) }
  }

  /// Who waited has been answered otherwise.
  func forget(_ id: UInt64) { state.withLock { $0.waiters.removeAll { $0.id == id } } }
}
