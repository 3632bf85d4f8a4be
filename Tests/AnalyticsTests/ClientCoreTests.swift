import Primitives
import Testing

@testable import Analytics

/// The client's decisions, by table.
@Suite struct ClientCoreTests {
  private static let second: Int64 = 1_000_000_000

  private static func configuration(
    _ change: (inout AnalyticsClientConfiguration) -> Void = { _ in }
  ) -> AnalyticsClientConfiguration {
    var configuration = AnalyticsClientConfiguration(endpoint: "http://127.0.0.1/v1/events")
    configuration.flushCount = 3
    change(&configuration)
    return configuration
  }

  /// A core, with a clock and random numbers of the test's.
  private struct Bench {
    var core: AnalyticsClientCore
    var random = SeededRandom(seed: 7)
    var now: Int64 = 0
    var answers: [AnalyticsFlushResult] = []

    init(_ change: (inout AnalyticsClientConfiguration) -> Void = { _ in }) {
      core = AnalyticsClientCore(ClientCoreTests.configuration(change))
    }

    mutating func track(_ count: Int, bytes: Int = 10) {
      for _ in 0..<count { core.append([UInt8](repeating: 0x7B, count: bytes), at: now) }
    }

    /// The ids of the request that is begun now; empty when there is none.
    mutating func request() -> [Int64] {
      var ids: [Int64] = []
      for action in core.actions(at: now) {
        switch action {
        case .send(let events, _): ids = events.map(\.id)
        case .answer(_, let result): answers.append(result)
        case .store: core.stored()
        }
      }
      return ids
    }

    mutating func finish(_ outcome: RequestOutcome) {
      core.finish(outcome, attempt: core.attempt, at: now, random: &random)
    }
  }

  @Test func `S1.2 the count of waiting events begins a flush`() {
    var bench = Bench()
    bench.track(2)
    #expect(bench.request() == [])
    bench.track(1)
    #expect(bench.request() == [1, 2, 3])
  }

  @Test func `S1.2 the interval since the oldest began to wait begins a flush`() {
    var bench = Bench()
    bench.track(1)
    bench.now = 29 * Self.second
    bench.track(1)
    #expect(bench.request() == [])
    #expect(bench.core.nextTime == 30 * Self.second)
    bench.now = 30 * Self.second
    #expect(bench.request() == [1, 2])
  }

  @Test func `S1.3 one request at a time, and what comes meanwhile waits`() {
    var bench = Bench()
    bench.track(3)
    #expect(bench.request() == [1, 2, 3])
    bench.track(3)
    #expect(bench.request() == [])
    bench.finish(.delivered(refused: [:]))
    #expect(bench.request() == [4, 5, 6])
  }

  @Test(arguments: [
    RequestOutcome.failed("no network", wait: nil), .failed("HTTP 503", wait: .seconds(5)),
    .misconfigured("HTTP 401"),
  ])
  func `S1.3 a failed batch is sent again first, with what came meanwhile behind it`(
    _ outcome: RequestOutcome
  ) {
    var bench = Bench()
    bench.track(3)
    #expect(bench.request() == [1, 2, 3])
    bench.track(2)
    bench.finish(outcome)
    #expect(bench.request() == [])
    bench.now = 120 * Self.second
    #expect(bench.request() == [1, 2, 3, 4, 5])
    bench.finish(.delivered(refused: [:]))
    #expect(bench.core.status.delivered == 5 && bench.core.status.waiting == 0)
  }

  @Test(arguments: [5, 3600])
  func `no request goes out before the server's Retry-After is over`(_ seconds: Int64) {
    var bench = Bench()
    bench.track(3)
    _ = bench.request()
    bench.finish(.failed("HTTP 429", wait: .seconds(seconds)))
    bench.core.flush(1)
    #expect(bench.core.nextTime == seconds * Self.second)
    bench.now = seconds * Self.second - 1
    #expect(bench.request() == [])
    #expect(bench.answers == [AnalyticsFlushResult(waiting: 3, failure: "HTTP 429")])
    bench.now += 1
    #expect(bench.request() == [1, 2, 3])
  }

  @Test func `waits are random below a ceiling that doubles up to the limit`() {
    var bench = Bench()
    bench.track(3)
    var longest: Int64 = 0
    for attempt in 0..<40 {
      let begin = bench.now
      #expect(bench.request() == [1, 2, 3])
      bench.finish(.failed("", wait: nil))
      bench.now = bench.core.nextTime ?? 0
      let ceiling = min(300, 1 << min(attempt, 20)) * Self.second
      #expect((0...ceiling).contains(bench.now - begin))
      longest = max(longest, bench.now - begin)
    }
    // The odds of 30 waits below a quarter of the limit are 1 in 10^18.
    #expect(longest > 75 * Self.second)
  }

  @Test func `a flush cuts a wait of the client's own short`() {
    var bench = Bench()
    bench.track(3)
    _ = bench.request()
    bench.finish(.misconfigured("HTTP 401"))
    #expect(bench.request() == [])
    bench.core.flush(1)
    #expect(bench.request() == [1, 2, 3])
  }

  @Test func `413 halves until it fits, and larger batches come back with success`() {
    var bench = Bench { $0.requestEvents = 8 }
    bench.track(8)
    bench.core.flush(1)
    var sizes: [Int] = []
    while true {
      let ids = bench.request()
      if ids.isEmpty { break }
      sizes.append(ids.count)
      bench.finish(ids.count > 2 ? .tooLarge("HTTP 413") : .delivered(refused: [:]))
      if bench.core.status.requests > 30 { break }
    }
    #expect(sizes == [8, 4, 2, 4, 2, 4, 2, 2])
    #expect(bench.core.status.delivered == 8 && bench.core.status.refused == 0)
  }

  @Test(arguments: [1, 4, 8])
  func `a 4xx for one event costs that one and holds up no other`(_ bad: Int64) {
    var bench = Bench()
    bench.track(8)
    bench.core.flush(1)
    var delivered: [Int64] = []
    while true {
      let ids = bench.request()
      if ids.isEmpty { break }
      if ids.contains(bad) {
        bench.finish(.rejected("HTTP 400: \(bad)"))
      } else {
        delivered += ids
        bench.finish(.delivered(refused: [:]))
      }
    }
    #expect(delivered == (1...8).filter { $0 != bad })
    #expect(bench.core.status.refused == 1 && bench.core.status.delivered == 7)
    #expect(bench.core.status.lastRefusal == "HTTP 400: \(bad)")
  }

  @Test func `a server that rejects everything is taken to be at fault and gets a pause`() {
    var bench = Bench()
    bench.track(100)
    while !bench.request().isEmpty { bench.finish(.rejected("HTTP 400")) }
    #expect(bench.core.status.refused == AnalyticsClientCore.mostDropsInARow)
    bench.now = 60 * Self.second - 1
    #expect(bench.request() == [])
    bench.now = 300 * Self.second
    #expect(bench.request().count == 1)
  }

  @Test func `the collector's verdict on single events is counted, and none is sent again`() {
    var bench = Bench()
    bench.track(3)
    _ = bench.request()
    bench.finish(.delivered(refused: [1: "BAD_NAME: it is empty"]))
    #expect(bench.request() == [])
    let status = bench.core.status
    #expect(status.delivered == 2 && status.refused == 1 && status.waiting == 0)
    #expect(status.lastRefusal == "BAD_NAME: it is empty")
  }

  @Test func `S1.3 at the bound the oldest that are not under way are shed and counted`() {
    var bench = Bench { $0.maximumEvents = 5 }
    bench.track(3)
    #expect(bench.request() == [1, 2, 3])
    bench.track(4)
    #expect(bench.core.status.shed == 2 && bench.core.status.waiting == 5)
    bench.finish(.failed("", wait: nil))
    bench.core.flush(1)
    #expect(bench.request() == [1, 2, 3, 6, 7])
  }

  @Test func `the bound in bytes sheds as well`() {
    var bench = Bench { $0.maximumBytes = 100 }
    bench.track(12, bytes: 10)
    #expect(bench.core.status.shed == 2)
    #expect(bench.request().first == 3)
  }

  @Test func `a request keeps to its bytes, and one larger event goes alone`() {
    var bench = Bench { $0.requestBytes = 200 }
    bench.track(1, bytes: 1000)
    bench.track(4, bytes: 40)
    #expect(bench.request() == [1])
    bench.finish(.delivered(refused: [:]))
    #expect(bench.request() == [2, 3])
  }

  @Test func `S1.6 what an earlier launch left goes out at once and before anything new`() {
    var bench = Bench()
    bench.core.restore([QueuedEvent(id: 41, body: [0x7B]), QueuedEvent(id: 44, body: [0x7B])])
    bench.core.storeOpened()
    bench.track(1)
    #expect(bench.request() == [41, 44, 45])
    #expect(bench.core.status.restored == 2 && bench.core.status.tracked == 1)
  }

  @Test func `S1.6 new events are stored before they are sent, and deleted when they are`() {
    var bench = Bench()
    bench.core.storeOpened()
    bench.track(3)
    let actions = bench.core.actions(at: 0)
    let events = (1...3).map { QueuedEvent(id: $0, body: [UInt8](repeating: 0x7B, count: 10)) }
    #expect(actions == [.store(save: events, delete: []), .send(events, attempt: 1)])
    bench.core.stored()
    bench.finish(.delivered(refused: [:]))
    #expect(bench.core.actions(at: 0) == [.store(save: [], delete: [1...3])])
  }

  @Test func `a store that fails is tried again after a pause, with all that is not in it`() {
    var bench = Bench()
    bench.core.storeOpened()
    bench.track(1)
    _ = bench.core.actions(at: 0)
    bench.core.storeFailed("disk full", at: 0)
    bench.track(1)
    #expect(bench.core.actions(at: 1) == [])
    #expect(!bench.core.status.isStored && bench.core.status.storeFailures == 1)
    #expect(bench.core.nextTime == StoreLedger.pause)
    guard
      case .store(let save, _)? = bench.core.actions(at: StoreLedger.pause).first
    else { return #expect(Bool(false), "nothing is stored") }
    #expect(save.map(\.id) == [1, 2])
  }

  @Test func `a store that fails is tried once a pause, also with nothing to write`() {
    var bench = Bench()
    bench.core.storeOpened()
    bench.core.storeFailed("locked", at: 0)
    let pause = StoreLedger.pause
    #expect(bench.core.nextTime == pause && bench.core.actions(at: pause - 1) == [])
    #expect(bench.core.actions(at: pause) == [.store(save: [], delete: [])])
    bench.core.storeFailed("locked", at: pause)
    #expect(bench.core.nextTime == 2 * pause)
    #expect(bench.core.actions(at: 2 * pause) == [.store(save: [], delete: [])])
    bench.core.stored()
    #expect(bench.core.nextTime == nil && bench.core.actions(at: 3 * pause) == [])
  }

  @Test func `what is erased is counted, and an answer to it changes nothing`() {
    var bench = Bench()
    bench.track(3)
    _ = bench.request()
    let attempt = bench.core.attempt
    bench.core.erase()
    bench.core.finish(
      .delivered(refused: [:]), attempt: attempt, at: 0, random: &bench.random)
    let status = bench.core.status
    #expect(status.erased == 3 && status.delivered == 0 && status.waiting == 0)
    bench.track(3)
    #expect(bench.request() == [4, 5, 6])
  }
}
