// What an answer means for the events of the request, and for the next one.
extension AnalyticsClientCore {
  /// Refusals one after another after which the server, not the events, is taken to be at fault.
  static let mostDropsInARow = 20
  /// The least wait after an answer that somebody has to mend.
  static let misconfiguredPause: Int64 = 60_000_000_000

  mutating func settle(
    _ outcome: RequestOutcome, at now: Int64, _ random: inout some RandomNumberGenerator
  ) {
    switch outcome {
    case .delivered(let refused):
      metrics.delivered += inFlight - refused.count
      metrics.refused += refused.count
      if let first = refused.min(by: { $0.key < $1.key }) { metrics.lastRefusal = first.value }
      settle(inFlight)
      succeed()
      requestCap = min(max(1, configuration.requestEvents), requestCap * 2)
      dropsInARow = 0
    case .tooLarge(let reason): split(reason, isServersFault: false, at: now, &random)
    case .rejected(let reason): split(reason, isServersFault: true, at: now, &random)
    case .failed(let reason, let wait):
      let own = backoff.next(using: &random).nanoseconds
      let asked = wait?.nanoseconds ?? 0
      fail(reason, until: now.adding(asked > 0 ? asked : own), isServers: asked > 0)
    case .misconfigured(let reason):
      let own = backoff.next(using: &random).nanoseconds
      fail(reason, until: now.adding(max(own, Self.misconfiguredPause)), isServers: false)
    }
  }

  private mutating func succeed() {
    backoff.reset()
    notBefore = .min
    isServerWaiting = false
    metrics.lastFailure = nil
  }

  /// Half as many next time; an event that is refused alone is dropped.
  private mutating func split(
    _ reason: String, isServersFault: Bool, at now: Int64,
    _ random: inout some RandomNumberGenerator
  ) {
    metrics.failedRequests += 1
    guard inFlight == 1 else {
      requestCap = max(1, inFlight / 2)
      inFlight = 0
      return
    }
    metrics.refused += 1
    metrics.lastRefusal = reason
    settle(1)
    dropsInARow += 1
    guard isServersFault, dropsInARow >= Self.mostDropsInARow else { return }
    let own = backoff.next(using: &random).nanoseconds
    metrics.failedRequests -= 1
    fail(reason, until: now.adding(max(own, Self.misconfiguredPause)), isServers: false)
  }

  private mutating func fail(_ reason: String, until time: Int64, isServers: Bool) {
    metrics.failedRequests += 1
    metrics.lastFailure = reason
    inFlight = 0
    notBefore = time
    isServerWaiting = isServers
  }

  private mutating func settle(_ count: Int) {
    store.forget(queue[0].id...queue[count - 1].id)
    queue.removeFirst(count)
    inFlight = 0
  }
}
