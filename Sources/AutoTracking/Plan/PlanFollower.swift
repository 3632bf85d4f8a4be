public import Analytics
public import TrackingPlan

/// Fetches the collection plan from a collector and keeps an ``AutoTracker`` up to date with it.
///
/// ```swift
/// let follower = try PlanFollower("https://events.example.com/v1/plan", for: tracker)
/// Task { await follower.run() }
/// ```
/// A plan that has not changed costs one small request (`ETag`). A failure of whatever kind leaves the
/// plan in force as it is. What a plan was, a later launch does not know: keep the bytes of `onPlan`, and
/// give them to the tracker at the start, if events must not wait for the first answer.
public actor PlanFollower {
  private let url: String
  private let tracker: AutoTracker
  private let transport: any AnalyticsTransport
  private let interval: Duration
  private let clock: any Clock<Duration>
  private let onPlan: @Sendable (PublishedPlan) -> Void
  private var core: PlanFollowerCore
  /// Why the last attempt brought nothing; nil when it did not fail.
  public private(set) var failure: String?

  /// - Parameters:
  ///   - url: `/v1/plan` of a collector. With `?wait=25` it is answered when the plan changes, within
  ///     that many seconds; use it with a short interval, and on a phone rather not.
  ///   - interval: between two questions.
  ///   - transport: nil for the system's own.
  ///   - onPlan: called with each plan that came into force.
  /// - Throws: ``AnalyticsError`` when the system's transport cannot be had.
  public init(
    _ url: String, for tracker: AutoTracker, interval: Duration = .seconds(300),
    transport: (any AnalyticsTransport)? = nil, clock: any Clock<Duration> = ContinuousClock(),
    onPlan: @escaping @Sendable (PublishedPlan) -> Void = { _ in }
  ) throws(AnalyticsError) {
    self.url = url
    self.tracker = tracker
    self.interval = interval
    self.clock = clock
    self.onPlan = onPlan
    if let transport {
      self.transport = transport
    } else {
      self.transport = try SystemTransport.make(timeout: .seconds(60))
    }
    core = PlanFollowerCore(interval: interval, seed: .random(in: .min ... .max))
  }

  /// Asks now, as when the app comes to the foreground. True when another plan came into force.
  @discardableResult
  public func refresh() async -> Bool { await ask().isNew }

  /// Asks again and again, until its task is cancelled.
  public func run() async {
    while !Task.isCancelled {
      let answer = await ask().answer
      let wait = core.wait(after: answer)
      do {
        try await clock.sleep(for: wait)
      } catch {
        return
      }
    }
  }

  private func ask() async -> (answer: PlanFollowerCore.Answer, isNew: Bool) {
    let request = AnalyticsRequest(
      url: url, headers: core.headers, body: [], timeout: .seconds(60), method: "GET")
    let answer: PlanFollowerCore.Answer
    do throws(AnalyticsTransportError) {
      answer = core.take(try await transport.send(request))
    } catch {
      answer = .failed(error.text)
    }
    failure = if case .failed(let text) = answer { text } else { nil }
    guard case .plan(let plan) = answer, case .replaced = tracker.apply(plan) else {
      return (answer, false)
    }
    onPlan(plan)
    return (answer, true)
  }
}
