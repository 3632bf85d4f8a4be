import AnalyticsTestSupport
import Foundation
import TestSupport
import Testing

@testable import Analytics

/// That a person who does not want to be tracked is not, whatever becomes of files and processes.
@Suite(.timeLimit(.minutes(5)))
struct OptOutTests {
  let folder: TemporaryFolder
  let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("app/analytics.sqlite")
  }

  private func service(
    _ recorder: AnalyticsRecorder, path: String? = nil, asksFirst: Bool = false
  ) throws -> AnalyticsService {
    var configuration = AnalyticsServiceConfiguration(storePath: path ?? self.path)
    configuration.startsOptedOut = asksFirst
    return try AnalyticsService(configuration, providers: [recorder])
  }

  /// A launch that tracks one event; the names that were delivered.
  private func launch(_ path: String? = nil, asksFirst: Bool = false) async throws -> [EventType] {
    let recorder = AnalyticsRecorder()
    let service = try service(recorder, path: path, asksFirst: asksFirst)
    service.track(AnalyticsEvent("Tracked"))
    await service.flush()
    return recorder.names
  }

  /// The files as the next launch finds them, while a service of this process has them.
  private func copy() throws -> String {
    let next = folder.file("next-\(UUID().uuidString).sqlite")
    for suffix in ["", "-wal", ".optout"]
    where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: next + suffix)
    }
    return next
  }

  @Test func `the choice outlives its store, damaged or in another process's hands`() async throws {
    let first = try service(AnalyticsRecorder())
    first.optOut()
    #expect(await first.isOptedOut)
    #expect(try await launch() == [], "the first service has the file")
    let damaged = try copy()
    try Data("no database at all, whatever else it may be".utf8)
      .write(to: URL(fileURLWithPath: damaged))
    #expect(try await launch(damaged) == [])

    first.optIn()
    #expect(await !first.isOptedOut)
    #expect(try await launch() == ["Tracked"])
    #expect(try await launch(try copy()) == ["Tracked"])
  }

  @Test func `a process that was told nothing leaves another's choice alone`() async throws {
    let first = try service(AnalyticsRecorder())
    #expect(await !first.isOptedOut)
    let second = try service(AnalyticsRecorder())
    #expect(await !second.isOptedOut)
    first.optOut()
    #expect(await first.isOptedOut)
    second.identify("u-1")
    await second.flush()
    #expect(try await launch() == [])
  }

  @Test func `who must be asked first is not tracked before, and is asked once`() async throws {
    #expect(try await launch(asksFirst: true) == [])
    let recorder = AnalyticsRecorder()
    let service = try service(recorder, path: folder.file("other.sqlite"), asksFirst: true)
    service.applicationLaunched(version: "1", build: "1")
    service.track(AnalyticsEvent("Before"))
    #expect(await service.isOptedOut)
    service.optIn()
    service.track(AnalyticsEvent("After"))
    await service.flush()
    #expect(recorder.names == ["After"])
    #expect(await service.metrics.optedOut == 3)
  }

  @Test func `an answer is kept, whichever it was`() async throws {
    let service = try service(AnalyticsRecorder(), asksFirst: true)
    service.optIn()
    #expect(await !service.isOptedOut)
    #expect(try await launch(try copy(), asksFirst: true) == ["Tracked"])
    service.optOut()
    #expect(await service.isOptedOut)
    #expect(try await launch(try copy(), asksFirst: true) == [])
    #expect(try await launch(try copy()) == [])
  }

  @Test func `a closed service gives its file to the next, and counts what comes later`()
    async throws
  {
    let recorder = AnalyticsRecorder()
    let first = try service(recorder)
    first.identify("u-1")
    await first.close()
    #expect(recorder.names == ["$identify"])
    let next = try service(AnalyticsRecorder())
    #expect(await next.identity == first.identity)
    #expect(await next.metrics.storeFailures == 0)
    first.track(AnalyticsEvent("Late"))
    first.track(AnalyticsEvent("Late"))
    let metrics = await first.metrics
    #expect(metrics.tracked == 3 && metrics.delivered == 1 && metrics.shed == 2)
    #expect(metrics.storeFailures == 0)
  }

  @Test func `a launch erases what a kill right after the choice left behind`() async throws {
    let first = try service(AnalyticsRecorder())
    first.optOut()
    #expect(await first.isOptedOut)
    let recorder = AnalyticsRecorder()
    let next = try service(recorder, path: try copy())
    #expect(await next.isOptedOut)
    #expect(recorder.calls.contains { if case .erased = $0 { true } else { false } })
  }

  @Test func `a client beside a service keeps no id, and one alone gives its own up`() async throws
  {
    let queue = folder.file("queue.sqlite")
    var configuration = AnalyticsClientConfiguration(
      endpoint: "http://collector.example/", storePath: queue)
    configuration.flushInterval = .seconds(3600)
    configuration.retryBase = .seconds(1_000_000)
    configuration.retryLimit = .seconds(1_000_000)
    func hasID() throws -> Bool {
      try ["", "-wal"].map { queue + $0 }.filter(FileManager.default.fileExists).contains {
        let data = try Data(contentsOf: URL(fileURLWithPath: $0))
        return data.range(of: Data("anonymousId".utf8)) != nil
      }
    }
    let transport = FakeTransport(rest: .failure("no network"))
    let client = try AnalyticsClient(configuration, transport: transport)
    let service = try AnalyticsService(.init(storePath: path), providers: [client])
    service.track(AnalyticsEvent("Tracked"))
    await service.flush()
    #expect(try hasID(), "in the event")
    service.optOut()
    await service.flush()
    #expect(try !hasID())

    client.track(AnalyticsEvent("Alone"))
    await client.flush()
    #expect(try hasID())
    await client.erase()
    #expect(try !hasID())
    client.track(AnalyticsEvent("Again"))
    transport.answer(rest: .success)
    #expect(await client.flush().isComplete)
    let ids = transport.exchanges.compactMap(\.events.last?["anonymousId"])
    #expect(Set(ids).count == 3, "the service's, and two of the client's")
    await client.close()
  }
}

/// What a store tells that could not be read at the start.
@Suite struct LateSettingsTests {
  private static func core(_ change: (inout AnalyticsServiceConfiguration) -> Void = { _ in })
    -> AnalyticsServiceCore
  {
    var configuration = AnalyticsServiceConfiguration()
    change(&configuration)
    return AnalyticsServiceCore(
      configuration, seed: 1, settings: AnalyticsSettings(), wantsEnvelopes: false)
  }

  private static let earlier = AnalyticsSettings([
    "anonymousId": "a-1", "userId": "u-1", "version": "1", "build": "1",
  ])

  @Test func `the device is the one that it was, and what was told since wins`() {
    var core = Self.core()
    core.restore(AnalyticsSettings(), isUnknown: true)
    _ = core.take(.event(AnalyticsEvent("E"), .now(), nil))
    #expect(core.identity.anonymousId != "a-1")
    core.restoreLate(Self.earlier)
    #expect(core.identity == EventIdentity(userId: "u-1", anonymousId: "a-1"))

    core = Self.core()
    _ = core.take(.identify(userId: "u-2", traits: nil, .now()))
    core.restoreLate(Self.earlier)
    #expect(core.identity == EventIdentity(userId: "u-2", anonymousId: "a-1"))
  }

  @Test(arguments: [ServiceCall.reset(erasing: false), .optOut])
  func `who was forgotten since stays so`(_ call: ServiceCall) {
    var core = Self.core()
    _ = core.take(call)
    core.restoreLate(Self.earlier)
    #expect(core.identity == EventIdentity(anonymousId: ""))
  }

  @Test func `an app that cannot read what it kept was not installed just now`() {
    var core = Self.core()
    core.restore(AnalyticsSettings(), isUnknown: true)
    #expect(core.take(.lifecycle(.launched(version: "2", build: "2"), .now())).count == 1)
    core.restoreLate(Self.earlier)
    #expect(core.settings.version == .init(version: "2", build: "2"))
    // A first launch is told as installed and opened.
    core = Self.core()
    core.restore(AnalyticsSettings())
    #expect(core.take(.lifecycle(.launched(version: "2", build: "2"), .now())).count == 2)
  }

  @Test func `a choice that was kept counts once it can be read`() {
    var core = Self.core { $0.startsOptedOut = true }
    core.restore(AnalyticsSettings(), isUnknown: true)
    #expect(core.isOptedOut)
    core.restoreLate(AnalyticsSettings(["optedOut": "0"]))
    #expect(!core.isOptedOut)
  }
}
