internal import Analytics
internal import Primitives
internal import TrackingPlan

/// Decides what an answer to `GET /v1/plan` means and when to ask again. No network and no clock.
struct PlanFollowerCore {
  /// What one attempt brought.
  enum Answer {
    case plan(PublishedPlan)
    /// The plan is as it was.
    case unchanged
    /// The collector has none.
    case none
    /// Why there is nothing to be had now.
    case failed(String)
  }

  private let interval: Duration
  private var backoff = Backoff(base: .seconds(1), limit: .seconds(300))
  private var random: SeededRandom
  /// What the server calls the plan that is known.
  private(set) var tag: String?

  init(interval: Duration, seed: UInt64) {
    self.interval = interval
    random = SeededRandom(seed: seed)
  }

  /// A plan of an earlier launch is in force: it is not fetched again.
  mutating func restore(_ plan: PublishedPlan) { tag = "\"\(plan.tag)\"" }

  var headers: [AnalyticsRequest.Header] {
    var headers = [AnalyticsRequest.Header("Accept", "application/json")]
    if let tag { headers.append(.init("If-None-Match", tag)) }
    return headers
  }

  /// Reads an answer.
  mutating func take(_ response: AnalyticsResponse) -> Answer {
    switch response.status {
    case 200:
      do throws(PlanError) {
        let plan = try PublishedPlan(bytes: response.body)
        tag = response.header("ETag")
        return .plan(plan)
      } catch {
        return .failed("the plan that came cannot be read: \(error)")
      }
    case 304: return .unchanged
    case 404: return .none
    default: return .failed("the server answered \(response.status)")
    }
  }

  /// How long to wait before the next attempt: the interval, or less and ever more after failures.
  mutating func wait(after answer: Answer) -> Duration {
    guard case .failed = answer else {
      backoff.reset()
      return interval
    }
    return min(interval, backoff.next(using: &random))
  }
}
