internal import Primitives

/// How many events a provider takes in one UTC day.
public struct FakeQuota: Sendable {
  /// Of one user. What is beyond it is lost without a word: the answer is a success.
  public var perUser: Int?
  /// Of all. A request that goes beyond it is refused as a whole, with 429.
  public var daily: Int?
  /// What `Retry-After` says then; nil: the seconds that are left of the day.
  public var retryAfter: Int?
  private var day: Int64 = 0
  private var total = 0
  private var users: [String: Int] = [:]

  public init(perUser: Int? = nil, daily: Int? = nil, retryAfter: Int? = nil) {
    self.perUser = perUser
    self.daily = daily
    self.retryAfter = retryAfter
  }

  private static let nanosecondsADay: Int64 = 86_400_000_000_000

  /// The refusal of a request with so many events; nil when it is within the day's quota.
  mutating func refusal(_ events: Int, at now: Timestamp) -> StubAnswer? {
    let today = now.nanoseconds / Self.nanosecondsADay
    if today != day { (day, total, users) = (today, 0, [:]) }
    if let daily, total + events > daily {
      let left = (Self.nanosecondsADay - now.nanoseconds % Self.nanosecondsADay) / 1_000_000_000
      let wait = retryAfter ?? Int(left) + 1
      return StubAnswer(
        429, headers: [("Retry-After", "\(wait)")], body: Array("daily quota exceeded".utf8))
    }
    total += events
    return nil
  }

  /// Whether the user has more events of today left; counts one.
  mutating func admits(_ user: String) -> Bool {
    guard let perUser else { return true }
    users[user, default: 0] += 1
    return users[user, default: 0] <= perUser
  }
}
