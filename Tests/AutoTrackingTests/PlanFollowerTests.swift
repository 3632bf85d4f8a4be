import Analytics
import AnalyticsTestSupport
import AutoTracking
import EventModel
import Primitives
import Synchronization
import TestSupport
import Testing
import TrackingPlan

/// Tests of the plan's way by HTTP into an app (S3.6).
@Suite(.timeLimit(.minutes(5)))
struct PlanFollowerTests {
  private static func answer(_ version: Int) throws -> FakeTransport.Answer {
    let plan = try PlanText.plan(version: version, PlanText.entry("E\(version)", "#a:#..."))
    return .status(
      200, headers: [("ETag", "\"\(plan.tag)\"")], body: String(decoding: plan.bytes, as: UTF8.self)
    )
  }

  private static func tracker() -> AutoTracker { AutoTracker(sendingTo: SilentAnalytics()) }

  @Test func `S3.6 a plan comes by HTTP and is asked for by its tag afterwards`() async throws {
    let transport = FakeTransport([try Self.answer(1), .status(304), try Self.answer(2)])
    let tracker = Self.tracker()
    let versions = Mutex<[Int]>([])
    let follower = try PlanFollower(
      "https://a.example/v1/plan", for: tracker, transport: transport
    ) { plan in versions.withLock { $0.append(plan.document.version) } }
    #expect(await follower.refresh())
    let tag = try #require(tracker.plan?.tag)
    #expect(await !follower.refresh())
    #expect(await follower.refresh())
    #expect(tracker.plan?.document.version == 2)
    #expect(versions.withLock { $0 } == [1, 2])
    let requests = transport.exchanges.map(\.request)
    #expect(requests.map(\.method) == ["GET", "GET", "GET"])
    #expect(requests.map { $0.header("If-None-Match") } == [nil, "\"\(tag)\"", "\"\(tag)\""])
  }

  @Test(arguments: [
    FakeTransport.Answer.failure("no network"), .status(500), .status(404),
    .status(200, body: "{\"version\": 0}"), .status(200, body: "<html>"),
  ])
  func `whatever goes wrong leaves the plan in force`(_ answer: FakeTransport.Answer) async throws {
    let tracker = Self.tracker()
    let follower = try PlanFollower(
      "https://a.example/v1/plan", for: tracker,
      transport: FakeTransport([try Self.answer(1)], rest: answer))
    #expect(await follower.refresh())
    #expect(await !follower.refresh())
    #expect(tracker.plan?.document.version == 1)
  }

  @Test func `it asks again after the interval, and sooner after a failure`() async throws {
    let clock = ManualClock()
    let transport = FakeTransport([.failure("no network"), try Self.answer(1)], rest: .status(304))
    let tracker = Self.tracker()
    let follower = try PlanFollower(
      "https://a.example/v1/plan", for: tracker, interval: .seconds(300), transport: transport,
      clock: clock)
    let running = Task { await follower.run() }
    try await until { clock.sleeperCount == 1 }
    #expect(await follower.failure == "no network")
    // The first wait after a failure is a second at most.
    clock.advance(by: .seconds(1))
    try await until { tracker.plan != nil && clock.sleeperCount == 1 }
    clock.advance(by: .seconds(299))
    #expect(transport.exchanges.count == 2)
    clock.advance(by: .seconds(1))
    try await until { transport.exchanges.count == 3 }
    running.cancel()
    await running.value
  }

  @Test func `a plan is in force from the next launch's start on, and is not fetched again`()
    async throws
  {
    let folder = try TemporaryFolder()
    let path = folder.file("app/plan.json")
    func follower(_ tracker: AutoTracker, _ transport: FakeTransport) throws -> PlanFollower {
      try PlanFollower(
        "https://a.example/v1/plan", for: tracker, storePath: path, transport: transport)
    }
    let first = try follower(Self.tracker(), FakeTransport([try Self.answer(1)]))
    #expect(await first.refresh())
    #expect(await first.storeFailure == nil)

    let tracker = Self.tracker()
    let transport = FakeTransport([.failure("no network"), .status(304), try Self.answer(2)])
    let second = try follower(tracker, transport)
    let plan = try #require(tracker.plan, "before any answer")
    #expect(plan.document.version == 1)
    #expect(await !second.refresh())
    #expect(await !second.refresh())
    #expect(await second.refresh())
    #expect(transport.exchanges[1].request.header("If-None-Match") == "\"\(plan.tag)\"")
    let third = Self.tracker()
    _ = try follower(third, FakeTransport())
    #expect(third.plan?.document.version == 2)
  }

  @Test func `a file that cannot be used costs no plan, and is told`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("plan.json")
    try PrivateFile.write(Array("{\"version\": ".utf8), to: path)
    let tracker = Self.tracker()
    let follower = try PlanFollower(
      "https://a.example/v1/plan", for: tracker, storePath: path,
      transport: FakeTransport([try Self.answer(1)]))
    #expect(tracker.plan == nil)
    #expect(await follower.storeFailure?.contains(path) == true)
    #expect(await follower.refresh())
    #expect(await follower.storeFailure == nil, "it was replaced")

    let lost = try PlanFollower(
      "https://a.example/v1/plan", for: Self.tracker(), storePath: path + "/plan.json",
      transport: FakeTransport([try Self.answer(1)]))
    #expect(await lost.refresh())
    #expect(await lost.storeFailure?.hasPrefix("the plan is not kept") == true)
  }

  private struct NeverHeld: Error {}

  /// Lets the other tasks run until a fact holds.
  private func until(_ holds: () -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(20)
    while !holds() {
      guard ContinuousClock.now < end else { throw NeverHeld() }
      await Task.yield()
    }
  }
}
