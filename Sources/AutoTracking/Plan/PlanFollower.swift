public import Analytics
internal import Primitives
public import TrackingPlan

/// Fetches the collection plan from a collector and keeps an ``AutoTracker`` up to date with it.
///
/// ```swift
/// let follower = try PlanFollower(
///   "https://events.example.com/v1/plan", for: tracker, storePath: folder + "/plan.json")
/// Task { await follower.run() }
/// ```
/// A plan that has not changed costs one small request (`ETag`). A failure of whatever kind leaves the
/// plan in force as it is. With a file, a plan is in force from the start of the next launch on, also
/// without a network.
public actor PlanFollower {
  private let url: String
  private let storePath: String?
  private let tracker: AutoTracker
  private let transport: any AnalyticsTransport
  private let interval: Duration
  private let clock: any Clock<Duration>
  private let onPlan: @Sendable (PublishedPlan) -> Void
  private var core: PlanFollowerCore
  /// Why the last attempt brought nothing; nil when it did not fail.
  public private(set) var failure: String?
  /// Why the file could not be read or written the last time; the plan in force is none the worse for it.
  public private(set) var storeFailure: String?

  /// - Parameters:
  ///   - url: `/v1/plan` of a collector. With `?wait=25` it is answered when the plan changes, within
  ///     that many seconds; use it with a short interval, and on a phone rather not.
  ///   - storePath: a file of the app's for the plan, read here: some KB as a rule, 2 MiB at most. Its folder
  ///     is made. Nil: each launch waits for its first answer.
  ///   - interval: between two questions.
  ///   - transport: nil for the system's own.
  ///   - onPlan: called with each plan that came into force.
  /// - Throws: ``AnalyticsError`` when the system's transport cannot be had.
  public init(
    _ url: String, for tracker: AutoTracker, storePath: String? = nil,
    interval: Duration = .seconds(300), transport: (any AnalyticsTransport)? = nil,
    clock: any Clock<Duration> = ContinuousClock(),
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
    self.storePath = storePath
    var core = PlanFollowerCore(interval: interval, seed: .random(in: .min ... .max))
    if let storePath {
      do {
        if let plan = try PlanFile.read(storePath) {
          tracker.apply(plan)
          core.restore(plan)
        }
      } catch {
        storeFailure = "\(storePath) is not used: \(error)"
      }
    }
    self.core = core
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
    if let storePath { storeFailure = await PlanFile.write(plan, to: storePath) }
    return (answer, true)
  }
}
