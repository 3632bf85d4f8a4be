import Analytics
import AnalyticsTestSupport
import Foundation
import Primitives
import TestSupport
import Testing

/// S2: the service, its registries and providers.
@Suite(.timeLimit(.minutes(5)))
struct ServiceTests {
  let recorder = AnalyticsRecorder()

  private func service(
    _ path: String? = nil, plugins: [any AnalyticsPlugin] = [],
    _ change: (inout AnalyticsServiceConfiguration) -> Void = { _ in }
  ) throws -> AnalyticsService {
    var configuration = AnalyticsServiceConfiguration(storePath: path)
    change(&configuration)
    return try AnalyticsService(configuration, providers: [recorder], plugins: plugins)
  }

  @Test func `S2.1 properties of mixed types stay what they are`() async throws {
    let service = try service()
    let date = Timestamp(nanoseconds: 1_796_032_800_000_000_000)
    service.track(
      AnalyticsEvent(
        name: "Mixed",
        properties: [
          "bool": true, "int": 1, "double": 1.0, "string": "1", "date": .date(date), "null": nil,
          "list": [true, 1, 1.0], "map": ["deep": ["deeper": .uint(.max)]],
        ]))
    await service.flush()
    let json = String(decoding: try delivered()[0].json(), as: UTF8.self)
    let properties = """
      "properties":{"bool":true,"int":1,"double":1.0,"string":"1",\
      "date":"2026-11-30T10:00:00.000Z","null":null,"list":[true,1,1.0],\
      "map":{"deep":{"deeper":18446744073709551615}}}
      """
    #expect(json.contains(properties), "\(json)")
  }

  private func delivered() throws -> [StampedEvent] {
    recorder.calls.compactMap { if case .delivered(let event) = $0 { event } else { nil } }
  }

  @Test func `S2.2 each provider of the list gets every event in order`() async throws {
    let memory = MemoryProvider()
    let transport = FakeTransport()
    let client = try AnalyticsClient(
      AnalyticsClientConfiguration(endpoint: "http://collector.example/"), transport: transport)
    let service = try AnalyticsService(providers: [recorder, memory, client])
    for number in 0..<100 { service.send(AnalyticsEvent(name: "E\(number)")) }
    #expect(await service.flush().isComplete)
    let names = (0..<100).map { "E\($0)" }
    #expect(recorder.names.map(\.rawValue) == names)
    #expect(memory.events.map(\.topic) == names)
    #expect(transport.acceptedNames == names)
    let ids = memory.events.map(\.envelope.messageId)
    #expect(Set(ids).count == 100)
    #expect(transport.acceptedEvents.map { $0["messageId"]?.stringValue } == ids)
  }

  @Test func `S2.2 send and track are one and the same`() async throws {
    let service = try service()
    let seam: any AnalyticsEventSending = service
    seam.send(EventType.GameReset())
    seam.track(EventType.GameReset())
    service.send(EventType.GameReset())
    service.track(EventType.GameReset())
    await service.flush()
    #expect(recorder.names == Array(repeating: "Game Reset", count: 4))
  }

  @Test func `S2.3 the feed's registry speaks of posts`() {
    let feed = FeedAnalyticalRegistry(recorder)
    feed.postOpened()
    feed.postLiked(true)
    feed.postShared(false)
    #expect(recorder.names == ["Post Opened", "Post Liked", "Post Shared"])
    #expect(recorder.events(of: EventType.PostLiked.self) == [.init(liked: true)])
    #expect(recorder.events(of: EventType.PostShared.self) == [.init(shared: false)])
  }

  @Test(arguments: 0..<16)
  func `S2.4 the profile's registry says which fields changed and how many`(_ bits: Int)
    async throws
  {
    let flags = (0..<4).map { bits >> $0 & 1 == 1 }
    let service = try service()
    let profile = ProfileAnalyticalRegistry(service)
    profile.avatarChanged()
    profile.profileFieldsChanged(
      firstName: flags[0], lastName: flags[1], emailAddress: flags[2], bio: flags[3])
    await service.flush()
    #expect(recorder.names == ["Avatar Changed", "Profile Fields"])
    #expect(recorder.envelopes[0].properties == nil)
    #expect(
      recorder.envelopes[1].properties == [
        "First Name Changed": .bool(flags[0]), "Last Name Changed": .bool(flags[1]),
        "Email Address Changed": .bool(flags[2]), "Bio Changed": .bool(flags[3]),
        "Total Fields Changed": .int(Int64(flags.count { $0 })),
      ])
  }

  @Test func `S2.5 the recorder keeps every call in order`() async throws {
    let service = try service()
    recorder.send(EventType.GameReset())
    service.track(EventType.GameStarted(opponentType: .human))
    await service.flush()
    service.optOut()
    _ = await service.isOptedOut
    let calls = recorder.calls.map { call in
      switch call {
      case .sent(let event): "sent \(event.eventType)"
      case .delivered(let event): "delivered \(event.topic)"
      case .flushed: "flushed"
      case .erased: "erased"
      }
    }
    #expect(calls == ["sent Game Reset", "delivered Game Started", "flushed", "erased"])
  }

  @Test func `identity an event has an anonymous id from the first on, made once and kept`()
    async throws
  {
    let folder = try TemporaryFolder()
    let path = folder.file("analytics.sqlite")
    let first = try service(path)
    first.track(EventType.GameReset())
    first.identify("u-1", traits: ["plan": "pro"])
    first.track(EventType.GameReset())
    await first.flush()
    let id = try #require(recorder.envelopes[0].anonymousId)
    #expect(recorder.envelopes.map(\.anonymousId) == [id, id, id])
    #expect(recorder.envelopes.map(\.userId) == [nil, "u-1", "u-1"])
    #expect(recorder.names == ["Game Reset", "$identify", "Game Reset"])
    #expect(recorder.envelopes[1].traits == ["plan": "pro"])

    let second = AnalyticsRecorder()
    // The file is free once the first service is gone; here a copy stands for the next launch.
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: path + ".next" + suffix)
    }
    let next = try AnalyticsService(.init(storePath: path + ".next"), providers: [second])
    next.track(EventType.GameReset())
    await next.flush()
    #expect(second.envelopes.map(\.anonymousId) == [id])
    #expect(second.envelopes.map(\.userId) == ["u-1"])
  }

  @Test func `reset forgets the person and links nothing`() async throws {
    let service = try service()
    service.identify("u-1")
    service.reset()
    service.track(EventType.GameReset())
    await service.flush()
    let envelopes = recorder.envelopes
    #expect(envelopes[1].userId == nil)
    #expect(envelopes[1].anonymousId != envelopes[0].anonymousId)
    #expect(envelopes[1][.context] != envelopes[0][.context], "another session")
  }

  @Test func `screen, group and alias are events of their own kinds`() async throws {
    let service = try service()
    service.setCommonProperties(["build": 7])
    service.screen("Feed", category: "Main", properties: ["posts": 3])
    service.group("g-1", traits: ["name": "Team"])
    service.identify("u-1")
    service.alias("u-2")
    await service.flush()
    let envelopes = recorder.envelopes
    #expect(envelopes.map(\.kind) == [.screen, .group, .identify, .alias])
    #expect(envelopes[0][.name] == "Feed" && envelopes[0][.category] == "Main")
    #expect(envelopes[0].properties == ["posts": 3, "build": 7])
    #expect(envelopes[1][.groupId] == "g-1" && envelopes[1].traits == ["name": "Team"])
    #expect(envelopes[3].userId == "u-2" && envelopes[3][.previousId] == "u-1")
    #expect(envelopes.allSatisfy { $0.anonymousId != nil && $0.messageId?.count == 36 })
  }

  @Test func `a session lasts while there are events, and the app's own wins`() async throws {
    let service = try service { $0.sessionTimeout = .seconds(1800) }
    func track(_ minute: Int64) {
      service.track(
        AnalyticsEvent(
          name: "E",
          timestamp: Timestamp(nanoseconds: (1_700_000_000 + minute * 60) * 1_000_000_000)))
    }
    for minute: Int64 in [0, 29, 58, 88, 89] { track(minute) }
    service.setSessionId("own")
    track(90)
    await service.flush()
    let ids = recorder.envelopes.map { $0[.context]?.objectValue?["sessionId"]?.stringValue }
    #expect(ids[0] != nil && ids[0] == ids[1] && ids[1] == ids[2])
    #expect(ids[3] != ids[2] && ids[3] == ids[4] && ids[5] == "own")
  }

  @Test func `opting out sends nothing, keeps nothing, and lasts`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("analytics.sqlite")
    let queue = folder.file("queue.sqlite")
    let transport = FakeTransport(rest: .failure("no network"))
    var configuration = AnalyticsClientConfiguration(
      endpoint: "http://collector.example/", storePath: queue)
    configuration.flushInterval = .seconds(3600)
    // No retry of the client's own comes in between.
    configuration.retryBase = .seconds(1_000_000)
    configuration.retryLimit = .seconds(1_000_000)
    let client = try AnalyticsClient(configuration, transport: transport)
    let service = try AnalyticsService(
      .init(storePath: path), providers: [client, recorder])
    service.identify("person-4711")
    service.track(AnalyticsEvent(name: "Before", properties: ["note": "private-note"]))
    #expect(await service.flush().isComplete == false)
    let requests = transport.requests.count
    transport.answer(rest: .success)

    service.track(AnalyticsEvent(name: "Just before", properties: ["note": "private-note"]))
    service.optOut()
    service.track(AnalyticsEvent(name: "After", properties: ["note": "private-note"]))
    service.identify("person-4711")
    service.screen("After")
    #expect(await service.isOptedOut)
    await service.flush()
    #expect(transport.requests.count == requests)
    #expect(await client.metrics.erased == 2)
    #expect(await service.metrics.optedOut == 4)
    await client.close()
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let data = try Data(contentsOf: URL(fileURLWithPath: folder.file(name)))
      for word in ["private-note", "person-4711"] {
        #expect(data.range(of: Data(word.utf8)) == nil, "\(word) in \(name)")
      }
    }

    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: path + ".next" + suffix)
    }
    let later = AnalyticsRecorder()
    let next = try AnalyticsService(.init(storePath: path + ".next"), providers: [later])
    next.track(EventType.GameReset())
    await next.flush()
    #expect(later.names.isEmpty)
    #expect(await next.isOptedOut)
    next.optIn()
    next.track(EventType.GameReset())
    await next.flush()
    #expect(later.names == ["Game Reset"])
    #expect(later.envelopes[0].anonymousId != recorder.envelopes[0].anonymousId)
  }

  @Test func `a damaged file of settings is moved aside, and the service goes on`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("analytics.sqlite")
    try Data("no database at all, whatever else it may be".utf8)
      .write(to: URL(fileURLWithPath: path))
    let service = try service(path)
    service.track(EventType.GameReset())
    await service.flush()
    #expect(recorder.names == ["Game Reset"])
    let metrics = await service.metrics
    #expect(metrics.storesMovedAside == 1 && metrics.storeFailures == 1)
  }

  @Test func `every event is accounted for`() async throws {
    let drop = AnalyticsClosurePlugin(.before) { $0.event == "Drop" ? nil : $0 }
    let spoil = AnalyticsClosurePlugin(.enrichment) { event in
      var event = event
      if event.event == "Spoil" { event.event = "" }
      return event
    }
    let service = try service(plugins: [drop, spoil])
    for name in ["A", "Drop", "Spoil", "", "B"] { service.track(AnalyticsEvent(name: name)) }
    await service.flush()
    let metrics = await service.metrics
    #expect(recorder.names == ["A", "B"])
    #expect(metrics.tracked == 5 && metrics.delivered == 2)
    #expect(metrics.dropped == 1 && metrics.refused == 2)
  }
}
