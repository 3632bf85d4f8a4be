internal import Primitives

/// Whether requests may go to the destination at all.
///
/// Once something was wrong with the destination as a whole, one request at a time finds out whether it
/// still is; a success opens it for all lanes.
struct Gate: Sendable {
  enum State: Hashable, Sendable {
    case open
    /// It cannot be reached.
    case failing(String)
    /// It said that it wants to be left alone for a while.
    case paused(String)
    /// A person has to change something.
    case misconfigured(String)
  }

  private(set) var state = State.open
  private(set) var notBefore: Int64 = 0
  private var backoff: StepBackoff
  private var pauses = 0
  /// Counts the times it closed: an answer to a request from before says nothing about now.
  private(set) var round = 0
  /// Not before this time, since no more events may be sent in this second.
  var pacedUntil: Int64 = 0

  init(backoff: StepBackoff) { self.backoff = backoff }

  func allows(_ requestsUnderWay: Int, at now: Int64) -> Bool {
    guard now >= pacedUntil else { return false }
    return state == .open || now >= notBefore && requestsUnderWay == 0
  }

  /// - Parameter round: the one in which the request was sent that got through.
  mutating func succeed(_ round: Int) {
    guard round == self.round else { return }
    state = .open
    notBefore = 0
    pauses = 0
    backoff.reset()
  }

  /// Returns the wait.
  mutating func fail(_ reason: String, at now: Int64, using random: inout SeededRandom) -> Int64 {
    let wait = backoff.next(using: &random)
    close(.failing(reason), until: now + wait)
    return wait
  }

  /// `wait` is what the destination asked for. "At once", again and again, would be a busy loop: each
  /// such pause is a little longer, up to a second.
  mutating func pause(
    _ wait: Int64?, _ reason: String, at now: Int64, using random: inout SeededRandom
  ) -> Int64 {
    let least: Int64 = min(1_000_000_000, 100_000_000 << min(pauses, 5))
    pauses += 1
    let wait = wait.map { max($0, least) } ?? backoff.next(using: &random)
    close(.paused(reason), until: now + wait)
    return wait
  }

  /// Up to a tenth later than `interval`, so that a fleet does not ask in step.
  mutating func misconfigure(
    _ reason: String, interval: Int64, at now: Int64, using random: inout SeededRandom
  ) -> Int64 {
    let wait = interval + Int64.random(in: 0...max(1, interval / 10), using: &random)
    close(.misconfigured(reason), until: now + wait)
    return wait
  }

  /// Answers to requests that were under way beside each other never shorten a wait.
  private mutating func close(_ state: State, until time: Int64) {
    self.state = state
    round += 1
    notBefore = max(notBefore, time)
  }
}
