/// When each event of one producer is meant to be sent: an open loop.
///
/// The times are fixed before the first answer, and latency counts from them. A system that stalls
/// therefore pays for every event that should have been sent meanwhile; a load that waits for answers
/// would leave just those out (coordinated omission).
public struct LoadSchedule: Hashable, Sendable {
  /// What to do now for the next event.
  public enum Step: Hashable, Sendable {
    case send(intended: Int64, isWarmUp: Bool)
    /// Too early: nothing to do before this time.
    case wait(until: Int64)
    case done
    /// The system is so far behind that the rest of the schedule would tell nothing new.
    case giveUp
  }

  /// Nanoseconds, like all times here.
  public var start: Int64
  /// Nil: each event is meant for the moment at which the producer is free for it.
  public var interval: Double?
  public var events: UInt64
  public var end: Int64
  public var warmUpEnd: Int64
  /// At most so many events are warm-up, however long that lasts.
  public var warmUpEvents: UInt64
  public var giveUpBehind: Int64

  /// - Parameters:
  ///   - rate: of all producers together, events a second; they take turns.
  ///   - duration: of what is measured; the warm-up comes before it.
  public init(
    start: Int64, rate: Double?, producer: Int = 0, of producers: Int = 1, events: UInt64? = nil,
    duration: Int64? = nil, warmUp: Int64 = 0, giveUpBehind: Int64? = nil
  ) {
    precondition(producers > 0 && (0..<producers).contains(producer), "producer \(producer)")
    interval = rate.map { 1e9 * Double(producers) / $0 }
    let phase = rate.map { Int64(1e9 * Double(producer) / $0) } ?? 0
    self.start = start + phase
    let all = UInt64(producers)
    self.events = events.map { $0 / all + (UInt64(producer) < $0 % all ? 1 : 0) } ?? .max
    let measuredFrom = start + warmUp
    warmUpEnd = measuredFrom
    end = duration.map { measuredFrom + $0 } ?? .max
    warmUpEvents = events == nil ? .max : self.events / 5
    self.giveUpBehind = giveUpBehind ?? .max
  }

  /// The time for which event `index` (from 0) is meant; nil when that is whenever it can be sent.
  public func intended(_ index: UInt64) -> Int64? {
    interval.map { start + Int64(Double(index) * $0) }
  }

  public func step(_ index: UInt64, at now: Int64) -> Step {
    guard index < events else { return .done }
    let time = intended(index) ?? now
    guard time < end else { return .done }
    guard time <= now else { return .wait(until: time) }
    guard now - time <= giveUpBehind else { return .giveUp }
    return .send(intended: time, isWarmUp: time < warmUpEnd && index < warmUpEvents)
  }
}
