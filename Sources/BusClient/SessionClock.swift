internal import Primitives

/// When a session with the broker greets, asks for a sign of life, gives up and tries again: what a
/// producer and a subscriber share. Pure: monotonic nanoseconds come in.
struct SessionClock {
  enum Phase: Equatable {
    /// Nothing is asked before this time.
    case waiting(until: Int64)
    /// HELLO or OPEN is sent; without an answer the socket is made anew at this time.
    case greeting(until: Int64)
    case live
    case ended
  }

  /// What is to be done now.
  enum Due: Equatable {
    case greet
    case ping
    /// The broker was silent for so many heartbeats, or never answered (0).
    case reconnect(missed: Int)
    /// Nothing was heard for `absence`, and no session stands: once until something is heard.
    case tellAbsence
    case nothing(until: Int64)
  }

  private static let maximumUnanswered = 3
  /// Longer than a broker's restart, shorter than a person's patience.
  static let absence: Int64 = 5_000_000_000

  private(set) var phase = Phase.waiting(until: 0)
  private(set) var heartbeat: Int64 = 2_000_000_000
  private var nextPing: Int64 = 0
  private var pingsUnanswered = 0
  private var greetings = 0
  /// From when on the broker is missed; nil until it was first asked for something.
  private var missedFrom: Int64?
  private var hasToldAbsence = false
  private var retry = Backoff(base: .milliseconds(100), limit: .seconds(5))

  var isLive: Bool { phase == .live }

  /// Asked again after each thing done, until there is nothing.
  mutating func due(at now: Int64) -> Due {
    switch phase {
    case .ended: return .nothing(until: .max)
    case .waiting(let until): return absence(at: now, or: .greet, at: until)
    case .greeting(let until): return absence(at: now, or: .reconnect(missed: 0), at: until)
    case .live:
      guard now >= nextPing else { return .nothing(until: nextPing) }
      if pingsUnanswered >= Self.maximumUnanswered { return .reconnect(missed: pingsUnanswered) }
      pingsUnanswered += 1
      nextPing = now + heartbeat
      return .ping
    }
  }

  /// What is due while no session stands: to say so, or what is planned for `until`.
  private mutating func absence(at now: Int64, or due: Due, at until: Int64) -> Due {
    if now >= until { return due }
    let from = missedFrom ?? now
    missedFrom = from
    guard !hasToldAbsence else { return .nothing(until: until) }
    let end = from + Self.absence
    guard now >= end else { return .nothing(until: min(until, end)) }
    hasToldAbsence = true
    return .tellAbsence
  }

  /// A message came, whatever it says.
  mutating func heard(at now: Int64) {
    pingsUnanswered = 0
    missedFrom = now
    hasToldAbsence = false
  }

  mutating func greeted(at now: Int64) {
    greetings += 1
    // Two seconds, then longer: a broker that is down is found by libzmq's own reconnection, so a new
    // socket is only for what that does not see.
    phase = .greeting(until: now + 1_000_000_000 * Int64(min(5, 1 + greetings)))
  }

  mutating func began(at now: Int64, heartbeat wanted: Duration) {
    phase = .live
    greetings = 0
    heartbeat = max(1_000_000, wanted.nanoseconds)
    nextPing = now + heartbeat
  }

  /// The broker does its work again: the next wait is a short one.
  mutating func succeeded() { retry.reset() }

  /// How long to wait before asking again: as long as the broker says, and longer each time.
  mutating func pause(atLeast least: Duration, using random: inout SeededRandom) -> Int64 {
    max(least, retry.next(using: &random)).nanoseconds
  }

  mutating func wait(at now: Int64, atLeast least: Duration, using random: inout SeededRandom) {
    let until = now + pause(atLeast: least, using: &random)
    phase = .waiting(until: until)
    missedFrom = until
  }

  /// The connection was not let in: another is made after a while, which grows to some seconds.
  mutating func denied(at now: Int64, using random: inout SeededRandom) {
    let until = now + pause(atLeast: .milliseconds(500), using: &random)
    phase = .greeting(until: until)
    missedFrom = until
    hasToldAbsence = false
  }

  mutating func end() { phase = .ended }
}
