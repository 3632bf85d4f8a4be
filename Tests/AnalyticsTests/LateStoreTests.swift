import AnalyticsTestSupport
import Database
import Foundation
import Primitives
import TestSupport
import Testing

@testable import Analytics

/// A store that can be opened only when the app runs already: a phone that was locked, a disk that came
/// late, a second process that ended.
@Suite(.timeLimit(.minutes(5)))
struct LateStoreTests {
  let folder: TemporaryFolder
  let clock = ManualClock()
  /// The store's folder, which some tests take away.
  let place: String

  init() throws {
    folder = try TemporaryFolder()
    place = folder.file("app/analytics")
  }

  private func client(_ transport: FakeTransport) throws -> AnalyticsClient {
    var configuration = AnalyticsClientConfiguration(
      endpoint: "http://collector.example/", storePath: place + "/events.sqlite")
    configuration.clock = clock
    configuration.flushInterval = .seconds(3600)
    return try AnalyticsClient(configuration, transport: transport)
  }

  private func track(_ numbers: ClosedRange<Int>, on client: AnalyticsClient) {
    for number in numbers { client.track(AnalyticsEvent(name: "E\(number)")) }
  }

  /// Nothing can be opened there until `giveBack`.
  private func takeAway() throws {
    if FileManager.default.fileExists(atPath: place) {
      try FileManager.default.moveItem(atPath: place, toPath: place + "-away")
    }
    try Folders.make(folder.file("app"))
    try Data().write(to: URL(fileURLWithPath: place))
  }

  private func giveBack() throws {
    try FileManager.default.removeItem(atPath: place)
    if FileManager.default.fileExists(atPath: place + "-away") {
      try FileManager.default.moveItem(atPath: place + "-away", toPath: place)
    }
  }

  private func isStored(_ client: AnalyticsClient) async -> Bool {
    await eventually {
      clock.advance(by: .seconds(10))
      return await client.metrics.isStored
    }
  }

  @Test func `the folder of the file is made`() async throws {
    let client = try client(FakeTransport(rest: .failure("no network")))
    track(1...1, on: client)
    #expect(await client.metrics.isStored)
    #expect(FileManager.default.fileExists(atPath: place + "/events.sqlite"))
    await client.close()
  }

  @Test func `of a damaged store that can be opened later, what can be read goes out`() async throws
  {
    let first = try client(FakeTransport(rest: .failure("no network")))
    track(1...3, on: first)
    await first.flush()
    await first.close()
    do {
      let database = try Database(place + "/events.sqlite", migrations: [""])
      try database.execute(
        "UPDATE event SET body = x'00' WHERE id = (SELECT id FROM event ORDER BY id LIMIT 1 OFFSET 1)"
      )
    }
    try takeAway()
    let second = try client(FakeTransport(rest: .failure("no network")))
    track(4...4, on: second)
    await second.flush()
    try giveBack()
    #expect(await isStored(second))
    #expect(await second.metrics.storesMovedAside == 1)
    await second.close()
    let good = FakeTransport()
    let third = try client(good)
    #expect(await third.flush().isComplete)
    #expect(good.acceptedNames == ["E1", "E3", "E4"])
    await third.close()
  }

  @Test func `a store that can be opened later gets all that waits`() async throws {
    try takeAway()
    let first = try client(FakeTransport(rest: .failure("no network")))
    track(1...3, on: first)
    await first.flush()
    #expect(await first.metrics.isStored == false)
    try giveBack()
    #expect(await isStored(first))
    await first.close()
    let transport = FakeTransport()
    #expect(await (try client(transport)).flush().isComplete)
    #expect(transport.acceptedNames == ["E1", "E2", "E3"])
    #expect(Set(transport.acceptedEvents.map { $0["anonymousId"] }).count == 1)
  }

  @Test func `an earlier launch's events go out before new ones once their store can be opened`()
    async throws
  {
    let away = FakeTransport(rest: .failure("no network"))
    let first = try client(away)
    track(1...3, on: first)
    await first.flush()
    await first.close()

    try takeAway()
    let transport = FakeTransport(rest: .failure("no network"))
    let second = try client(transport)
    track(4...5, on: second)
    #expect(await second.flush().waiting == 2)
    try giveBack()
    #expect(await isStored(second))
    #expect(await second.metrics.restored == 3)
    track(6...6, on: second)
    transport.answer(rest: .success)
    #expect(await second.flush().isComplete)
    #expect(transport.acceptedNames == (1...6).map { "E\($0)" })
    let ids = transport.acceptedEvents.map { $0["anonymousId"] }
    #expect(ids.first == ids.last, "the device is the one that it was")
    await second.close()
    let third = FakeTransport()
    #expect(await (try client(third)).flush().isComplete)
    #expect(third.requests.isEmpty, "what was delivered is not kept")
  }

  @Test func `what is to be erased is never sent, though its store could not be opened`()
    async throws
  {
    let first = try client(FakeTransport(rest: .failure("no network")))
    track(1...3, on: first)
    await first.flush()
    await first.close()
    try takeAway()
    let transport = FakeTransport()
    let second = try client(transport)
    #expect(await second.metrics.storeFailures == 1)
    await second.erase()
    try giveBack()
    track(4...4, on: second)
    #expect(await isStored(second))
    #expect(await second.flush().isComplete)
    #expect(transport.acceptedNames == ["E4"])
    await second.close()
  }
}

/// The same, decided by the core.
@Suite struct LateEventTests {
  private var random = SeededRandom(seed: 1)

  private static func core(firstID: Int64) -> AnalyticsClientCore {
    var configuration = AnalyticsClientConfiguration(endpoint: "http://127.0.0.1/")
    configuration.flushCount = 1
    var core = AnalyticsClientCore(configuration, firstID: firstID)
    core.storeOpened()
    core.storeFailed("locked", at: 0)
    return core
  }

  private static func sent(_ actions: [AnalyticsClientAction]) -> [[UInt8]] {
    for case .send(let events, _) in actions { return events.map(\.body) }
    return []
  }

  private let old = [QueuedEvent(id: 41, body: [1]), QueuedEvent(id: 42, body: [2])]

  @Test(arguments: [RequestOutcome.failed("", wait: nil), .delivered(refused: [:])])
  mutating func `they wait for the request that is under way and go before all others`(
    _ outcome: RequestOutcome
  ) {
    var core = Self.core(firstID: 100)
    core.append([3], at: 0)
    #expect(Self.sent(core.actions(at: 0)) == [[3]])
    core.append([4], at: 0)
    core.restoreLate(old)
    #expect(core.status.waiting == 4 && core.status.restored == 2)
    #expect(core.actions(at: 0) == [])
    core.finish(outcome, attempt: core.attempt, at: 0, random: &random)
    core.flush(1)
    let expected: [[UInt8]] =
      outcome == .delivered(refused: [:]) ? [[1], [2], [4]] : [[1], [2], [3], [4]]
    #expect(Self.sent(core.actions(at: 0)) == expected)
  }

  @Test(arguments: [Int64(1), 41, 42])
  mutating func `their ids stay theirs when the clock was set back`(_ firstID: Int64) {
    var core = Self.core(firstID: firstID)
    core.append([3], at: 0)
    core.append([4], at: 0)
    core.restoreLate(old)
    let (save, delete) = core.unsaved
    #expect(save.map(\.id) == [43, 44] && save.map(\.body) == [[3], [4]] && delete == [])
    core.stored()
    #expect(Self.sent(core.actions(at: 0)) == [[1], [2], [3], [4]])
    core.finish(.delivered(refused: [:]), attempt: core.attempt, at: 0, random: &random)
    #expect(core.unsaved.delete == [41...44] && core.status.waiting == 0)
  }

  @Test func `they are shed first and erased with the rest`() {
    var configuration = AnalyticsClientConfiguration(endpoint: "http://127.0.0.1/")
    configuration.maximumEvents = 3
    var core = AnalyticsClientCore(configuration, firstID: 100)
    core.storeOpened()
    core.append([3], at: 0)
    core.append([4], at: 0)
    core.restoreLate(old)
    #expect(core.status.waiting == 3 && core.status.shed == 1)
    #expect(core.unsaved.delete == [41...41])
    core.erase()
    let status = core.status
    #expect(status.erased == 3 && status.waiting == 0)
    #expect(status.restored + status.tracked == status.shed + status.erased)
  }
}
