import Testing

@testable import Collector

/// When requests are turned away at once, by how the bus is.
struct BusHealthTests {
  private static let second: Int64 = 1_000_000_000

  @Test func `a bus that was away longer than a request may wait is told at once`() {
    var health = BusHealth(deadline: 10 * Self.second, at: 0)
    #expect(health.refusal(at: 9 * Self.second) == nil)
    #expect(health.refusal(at: 10 * Self.second) == .away)
    health.connected()
    #expect(health.refusal(at: 11 * Self.second) == nil)
    health.lost(at: 20 * Self.second)
    health.lost(at: 25 * Self.second)
    #expect(health.refusal(at: 29 * Self.second) == nil)
    #expect(health.refusal(at: 30 * Self.second) == .away)
  }

  @Test func `a push back counts until an acknowledgement or for its time`() {
    var health = BusHealth(deadline: 10 * Self.second, at: 0)
    health.connected()
    health.pushedBack("DISK_FULL", at: 0)
    #expect(health.refusal(at: 5 * Self.second) == .pushedBack(code: "DISK_FULL"))
    #expect(health.refusal(at: 7 * Self.second) == nil)
    health.pushedBack("OVERLOAD", at: 10 * Self.second)
    #expect(health.refusal(at: 10 * Self.second + 1) == .pushedBack(code: "OVERLOAD"))
    health.acknowledged()
    #expect(health.refusal(at: 10 * Self.second + 2) == nil)
  }

  @Test func `both are told with the time after which to try again`() {
    #expect(RequestFailure(.away).status == 503)
    #expect(RequestFailure(.pushedBack(code: "DISK_FULL")).status == 429)
    #expect(RequestFailure(.pushedBack(code: "DISK_FULL")).retryAfter == 5)
    #expect(RequestFailure(.pushedBack(code: "OVERLOAD")).retryAfter == 1)
  }
}
