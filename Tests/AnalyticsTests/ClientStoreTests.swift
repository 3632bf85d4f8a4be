import Analytics
import AnalyticsTestSupport
import Database
import Foundation
import Primitives
import TestSupport
import Testing

/// What survives a launch, and what a bad disk does.
@Suite(.timeLimit(.minutes(5)))
struct ClientStoreTests {
  let folder: TemporaryFolder
  let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("events.sqlite")
  }

  private func client(_ transport: FakeTransport, path: String? = nil) throws -> AnalyticsClient {
    var configuration = AnalyticsClientConfiguration(
      endpoint: "http://collector.example/v1/events", storePath: path ?? self.path)
    configuration.flushInterval = .seconds(3600)
    return try AnalyticsClient(configuration, transport: transport)
  }

  private func track(_ numbers: ClosedRange<Int>, on client: AnalyticsClient) {
    for number in numbers { client.track(AnalyticsEvent(name: "E\(number)")) }
  }

  @Test func `S1.6 undelivered events go out at the next launch, before new ones`() async throws {
    let away = FakeTransport(rest: .failure("no network"))
    let first = try client(away)
    track(1...7, on: first)
    await first.flush()
    await first.close()
    let ids = away.exchanges[0].events.map { $0["messageId"] }

    let transport = FakeTransport()
    let second = try client(transport)
    track(8...9, on: second)
    #expect(await second.flush().isComplete)
    #expect(transport.acceptedNames == (1...9).map { "E\($0)" })
    #expect(transport.acceptedEvents.prefix(7).map { $0["messageId"] } == ids)
    #expect(Set(transport.acceptedEvents.map { $0["anonymousId"] }).count == 1)
    let metrics = await second.metrics
    #expect(metrics.restored == 7 && metrics.tracked == 2 && metrics.delivered == 9)
    await second.close()

    let third = FakeTransport()
    #expect(await (try client(third)).flush().isComplete)
    #expect(third.requests.isEmpty, "what was delivered is not kept")
  }

  @Test func `S1.6 what was tracked is on disk within 100 ms, without a flush`() async throws {
    let client = try client(FakeTransport(rest: .failure("no network")))
    #expect(await client.metrics.isStored)
    let start = SystemClock.monotonic()
    track(1...10, on: client)
    #expect(await eventually { (try? Self.rows(of: path)) == 10 })
    // The promise is 100 ms; a machine that is busy with other tests gets ten times that.
    #expect(SystemClock.monotonic() - start < Sanitizer.patience(.seconds(1)))
    await client.close()
  }

  /// The file itself is locked, so its log is searched: what is committed is there.
  private static func rows(of path: String) throws -> Int {
    let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
    return (1...10).count { log.range(of: Data("\"E\($0)\"".utf8)) != nil }
  }

  @Test func `a damaged store is moved aside and counted, and a new one begins`() async throws {
    try Data("this is no database, whatever it says. ".utf8).write(to: URL(fileURLWithPath: path))
    let transport = FakeTransport(rest: .failure("no network"))
    let first = try client(transport)
    track(1...3, on: first)
    await first.flush()
    let metrics = await first.metrics
    #expect(metrics.storesMovedAside == 1 && metrics.storeFailures == 1 && metrics.isStored)
    #expect(metrics.lastStoreFailure?.contains("damaged") == true)
    await first.close()
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.count { $0.hasPrefix("events.sqlite.damaged-") } == 1)

    let good = FakeTransport()
    #expect(await (try client(good)).flush().isComplete)
    #expect(good.acceptedNames == ["E1", "E2", "E3"])
  }

  @Test func `a place in the order that leaves none behind it is damage`() async throws {
    let first = try client(FakeTransport(rest: .failure("no network")))
    track(1...2, on: first)
    await first.flush()
    await first.close()
    do {
      let database = try Database(path, migrations: [""])
      try database.execute(
        "UPDATE event SET id = 9223372036854775807 WHERE id = (SELECT max(id) FROM event)")
    }
    let good = FakeTransport()
    let second = try client(good)
    track(3...3, on: second)
    #expect(await second.flush().isComplete)
    #expect(good.acceptedNames == ["E1", "E3"])
    #expect(await second.metrics.storesMovedAside == 1)
    await second.close()
  }

  @Test func `without a place to write, the client goes on in memory and counts it`() async throws {
    let transport = FakeTransport()
    // A file is in the place of its folder.
    try Data().write(to: URL(fileURLWithPath: folder.file("file")))
    let client = try client(transport, path: folder.file("file/events.sqlite"))
    track(1...3, on: client)
    #expect(await client.flush().isComplete)
    let metrics = await client.metrics
    #expect(metrics.delivered == 3 && metrics.storeFailures >= 1)
    #expect(metrics.lastStoreFailure?.contains("must be there") == true)
  }

  @Test func `a full disk loses nothing, and what waits is stored when there is room`()
    async throws
  {
    let disk = folder.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    let mount = try ChildProcess("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]).wait()
    guard mount == .exited(0) else {
      return print("analytics: no tmpfs can be mounted: the full disk is not tried")
    }
    defer { _ = try? ChildProcess("umount", ["-l", disk]).wait() }
    let clock = ManualClock()
    var configuration = AnalyticsClientConfiguration(
      endpoint: "http://collector.example/", storePath: disk + "/events.sqlite")
    configuration.clock = clock
    configuration.retryBase = .seconds(1_000_000)
    configuration.retryLimit = .seconds(1_000_000)
    let transport = FakeTransport(rest: .failure("no network"))
    let first = try AnalyticsClient(configuration, transport: transport)
    #expect(await first.metrics.isStored)
    let ballast = URL(fileURLWithPath: disk + "/ballast")
    try Data(count: 800 << 10).write(to: ballast)
    track(1...1000, on: first)
    await first.flush()
    let full = await first.metrics
    #expect(full.isStored == false && full.storeFailures > 0 && full.waiting == 1000)
    #expect(full.lastStoreFailure?.contains("disk is full") == true)
    try FileManager.default.removeItem(at: ballast)
    #expect(
      await eventually {
        clock.advance(by: .seconds(10))
        return await first.metrics.isStored
      })
    await first.close()
    let good = FakeTransport()
    let second = try client(good, path: disk + "/events.sqlite")
    #expect(await second.flush().isComplete)
    #expect(good.acceptedNames == (1...1000).map { "E\($0)" })
    await second.close()
  }

  @Test func `one client has a file, and a second one goes on in memory`() async throws {
    let first = try client(FakeTransport(rest: .failure("no network")))
    track(1...2, on: first)
    await first.flush()
    let transport = FakeTransport()
    let second = try client(transport)
    track(3...3, on: second)
    #expect(await second.flush().isComplete)
    #expect(transport.acceptedNames == ["E3"])
    #expect(await second.metrics.storeFailures >= 1)
    #expect(await first.metrics.isStored)
  }

  @Test func `what is erased is neither sent nor on disk`() async throws {
    let transport = FakeTransport(rest: .failure("no network"))
    let first = try client(transport)
    first.track(AnalyticsEvent(name: "Secret", properties: ["note": "very-private-words"]))
    await first.flush()
    first.track(AnalyticsEvent(name: "Secret", properties: ["note": "very-private-words"]))
    await first.erase()
    #expect(await first.metrics.erased == 2)
    await first.close()
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let data = try Data(contentsOf: URL(fileURLWithPath: folder.file(name)))
      #expect(data.range(of: Data("very-private-words".utf8)) == nil, "\(name)")
    }
    transport.answer(rest: .success)
    #expect(await (try client(transport)).flush().isComplete)
    #expect(transport.acceptedEvents.isEmpty)
  }
}
