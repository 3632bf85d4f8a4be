import Primitives
import Testing

@testable import LoadTest

@Suite struct LoadScheduleTests {
  @Test func `times are fixed whatever the answers do`() {
    let schedule = LoadSchedule(start: 1_000, rate: 1000, events: 100)
    #expect(schedule.intended(0) == 1_000)
    #expect(schedule.intended(50) == 50_001_000)
    // Forty milliseconds late, the event still counts from when it was meant.
    #expect(
      schedule.step(50, at: 90_001_000) == .send(intended: 50_001_000, isWarmUp: false))
    #expect(schedule.step(50, at: 40_000_000) == .wait(until: 50_001_000))
  }

  @Test func `producers take turns and share the events`() {
    let parts = (0..<3).map {
      LoadSchedule(start: 0, rate: 3000, producer: $0, of: 3, events: 100)
    }
    #expect(parts.map(\.events) == [34, 33, 33])
    let times = parts.flatMap { part in (0..<part.events).compactMap { part.intended($0) } }
      .sorted()
    #expect(times.count == 100)
    for (earlier, later) in zip(times, times.dropFirst()) {
      #expect(abs(later - earlier - 333_333) <= 1)
    }
  }

  @Test(
    arguments: [
      (0, 0, LoadSchedule.Step.send(intended: 0, isWarmUp: true)),
      (9, 900_000_000, .send(intended: 900_000_000, isWarmUp: true)),
      (10, 1_000_000_000, .send(intended: 1_000_000_000, isWarmUp: false)),
      (29, 2_900_000_000, .send(intended: 2_900_000_000, isWarmUp: false)),
      (30, 3_000_000_000, .done),
      (12, 9_000_000_000, .giveUp),
    ] as [(UInt64, Int64, LoadSchedule.Step)])
  func `a second of warm-up comes before two that count`(
    _ row: (index: UInt64, now: Int64, step: LoadSchedule.Step)
  ) {
    let schedule = LoadSchedule(
      start: 0, rate: 10, duration: 2_000_000_000, warmUp: 1_000_000_000,
      giveUpBehind: 5_000_000_000)
    #expect(schedule.step(row.index, at: row.now) == row.step)
  }

  @Test func `without a rate each event is meant for now`() {
    let schedule = LoadSchedule(start: 0, rate: nil, events: 10, warmUp: 1_000)
    #expect(schedule.step(1, at: 500) == .send(intended: 500, isWarmUp: true))
    // A fifth of the events at most is warm-up.
    #expect(schedule.step(2, at: 500) == .send(intended: 500, isWarmUp: false))
    #expect(schedule.step(9, at: 2_000) == .send(intended: 2_000, isWarmUp: false))
    #expect(schedule.step(10, at: 2_000) == .done)
  }

  @Test func `a stall is paid by every event meant for it`() {
    // A pretended bus that takes an event a millisecond and stands still for one second.
    let schedule = LoadSchedule(start: 0, rate: 500, events: 1000)
    var histogram = LatencyHistogram()
    var now: Int64 = 0
    var index: UInt64 = 0
    while true {
      switch schedule.step(index, at: now) {
      case .wait(let time): now = time
      case .send(let intended, _):
        now += index == 100 ? 1_000_000_000 : 1_000_000
        histogram.record(now - intended)
        index += 1
      case .done, .giveUp:
        // Of 1,000 events about 500 were meant for the stall, and as many for making up for it: the
        // median sees it. Measured from the real sending, 999 of 1,000 would show 1 ms.
        #expect(histogram.value(atPercentile: 50) > 200_000_000)
        #expect(histogram.value(atPercentile: 99) > 950_000_000)
        return
      }
    }
  }
}

@Suite struct RateLadderTests {
  @Test(arguments: [3.0, 17, 999, 1000, 48_300, 1_250_000])
  func `the limit is found within five percent`(_ limit: Double) throws {
    var ladder = RateLadder(start: 1000)
    while let rate = ladder.next { ladder.record(isKept: rate <= limit) }
    let best = try #require(ladder.best)
    #expect(best <= limit && best * 1.06 >= limit, "\(best) for \(limit)")
  }

  @Test func `nothing keeps what cannot be kept`() {
    var ladder = RateLadder(start: 1000)
    var steps = 0
    while ladder.next != nil {
      ladder.record(isKept: false)
      steps += 1
    }
    #expect(ladder.best == nil)
    #expect(steps <= 24)
  }

  @Test func `one stall does not end a rate`() {
    var ladder = RateLadder(start: 100, highest: 100)
    ladder.record(isKept: false)
    #expect(ladder.next == 100)
    ladder.record(isKept: true)
    #expect(ladder.next == nil)
    #expect(ladder.best == 100)
  }
}
