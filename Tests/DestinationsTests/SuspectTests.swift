import BusProtocol
import Primitives
import SinkState
import Testing

@testable import Destinations

/// Events that keep failing: is it they, or the destination?
struct SuspectTests {
  @Test func `an event that fails alone for hours is dead, and others are not held up`() throws {
    var trial = CoreTrial(events: 4)
    trial.feed([1, 2, 1, 3])
    var delivered: [UInt64] = []
    while trial.now < 20 * 3600 * CoreTrial.second {
      // Somebody else always has something to say.
      if trial.now > 0, trial.core.waitingEvents < 50 { trial.feed([9]) }
      for request in trial.requests() {
        let fails = request.events.contains(0)
        if !fails { delivered += request.events }
        trial.core.finish(
          request.id, fails ? .retry("HTTP 500") : .delivered,
          DeliveryAnswer(status: fails ? 500 : 200, reason: "HTTP 500"), at: trial.now)
      }
      if trial.core.counts.failing > 0 { break }
      trial.now = max(
        trial.now, min(trial.core.nextDue, trial.now + 600 * CoreTrial.second))
    }
    #expect(trial.now >= 12 * 3600 * CoreTrial.second)
    #expect(trial.core.counts.failing == 1)
    // The user's own later event waited, the others did not.
    #expect(!delivered.contains(2))
    #expect(delivered.contains(1) && delivered.contains(3))
    #expect(trial.request(.delivered)?.first == 2)
    #expect(trial.settlement()?.letters.first?.refusal.origin == .failing)
  }

  @Test func `a destination that is down for days makes no dead letter`() {
    var trial = CoreTrial()
    trial.feed((0..<50).map { UInt64($0) })
    var requests = 0
    while trial.now < 3 * 86_400 * CoreTrial.second {
      for request in trial.requests() {
        requests += 1
        trial.core.finish(
          request.id, .retry("HTTP 503"), DeliveryAnswer(status: 503, reason: "HTTP 503"),
          at: trial.now)
      }
      trial.now = max(
        trial.now, min(trial.core.nextDue, trial.now + 3600 * CoreTrial.second))
    }
    #expect(trial.core.waitingEvents == 50)
    // One every five minutes at most, but for the beginning.
    #expect(requests < 3 * 86_400 / 140)
    var left = 1000
    while trial.core.waitingEvents > 0, left > 0 {
      left -= 1
      _ = trial.request(.delivered)
      if trial.core.waitingEvents > 0 { trial.now = max(trial.now, trial.core.nextDue) }
    }
    #expect(trial.settlement()?.progress?.ledger.applied == 50)
  }

  /// Plays hours of a stream that has one user; `fails` says which requests get a 500.
  private func playOneUser(
    hours: Int64, _ fails: (_ events: [UInt64], _ hour: Int64) -> Bool
  ) -> CoreTrial {
    var trial = CoreTrial(events: 4)
    trial.feed([1, 1, 1, 1, 1, 1])
    while trial.now < hours * 3600 * CoreTrial.second, trial.core.waitingEvents > 0 {
      for request in trial.requests() {
        let isBad = fails(request.events, trial.now / CoreTrial.second / 3600)
        trial.core.finish(
          request.id, isBad ? .retry("HTTP 500") : .delivered,
          DeliveryAnswer(status: isBad ? 500 : 200, reason: "HTTP 500"), at: trial.now)
      }
      trial.now = max(trial.now, min(trial.core.nextDue, trial.now + 600 * CoreTrial.second))
    }
    return trial
  }

  @Test func `a stream of one user that is refused for days makes no dead letter`() {
    var trial = playOneUser(hours: 72) { _, hour in hour < 60 }
    #expect(trial.core.waitingEvents == 0)
    #expect(trial.core.counts.failing == 0 && trial.core.counts.delivered == 6)
    #expect(trial.settlement()?.letters.isEmpty == true)
  }

  @Test func `in a stream of one user the next event shows which one is bad`() {
    var trial = playOneUser(hours: 72) { events, _ in events.contains(1) }
    #expect(trial.now >= 12 * 3600 * CoreTrial.second && trial.now < 14 * 3600 * CoreTrial.second)
    #expect(trial.core.counts.failing == 1 && trial.core.counts.delivered == 5)
    #expect(trial.settlement()?.letters.map(\.event.source.position?.offset) == [1])
  }
}
