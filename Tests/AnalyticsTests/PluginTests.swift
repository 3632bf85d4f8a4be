import Analytics
import AnalyticsTestSupport
import Synchronization
import Testing

/// The chain from `send` to the providers.
@Suite(.timeLimit(.minutes(5)))
struct PluginTests {
  /// Notes who ran, and adds a property.
  private func plugin(_ stage: AnalyticsPluginStage, _ name: String) -> AnalyticsClosurePlugin {
    AnalyticsClosurePlugin(stage) { event in
      var event = event
      let trail = event.properties?["trail"]?.stringValue ?? ""
      if event.properties == nil { event.properties = [:] }
      event.properties?["trail"] = .string(trail + name)
      return event
    }
  }

  private func trail(_ recorder: AnalyticsRecorder) -> [String?] {
    recorder.envelopes.map { $0.properties?["trail"]?.stringValue }
  }

  @Test func `stages run in order, and plugins of a stage in theirs`() async throws {
    let (first, second) = (AnalyticsRecorder(name: "one"), AnalyticsRecorder(name: "two"))
    let after = Mutex<[String?]>([])
    let watch = AnalyticsClosurePlugin(.after) { event in
      after.withLock { $0.append(event.properties?["trail"]?.stringValue) }
      return nil
    }
    let service = try AnalyticsService(
      providers: [first, second],
      plugins: [
        watch, plugin(.destination("two"), "t"), plugin(.enrichment, "e"), plugin(.before, "b"),
        plugin(.enrichment, "f"),
      ])
    service.track(EventType.GameReset()) { event in
      var event = event
      let trail = event.properties?["trail"]?.stringValue ?? ""
      event.properties?["trail"] = .string(trail + "o")
      return event
    }
    await service.flush()
    #expect(trail(first) == ["befo"])
    #expect(trail(second) == ["befot"])
    #expect(after.withLock { $0 } == ["befo"])
  }

  @Test func `a destination's plugin drops for that provider alone`() async throws {
    let (first, second) = (AnalyticsRecorder(name: "one"), AnalyticsRecorder(name: "two"))
    let service = try AnalyticsService(
      providers: [first, second],
      plugins: [AnalyticsClosurePlugin(.destination("one")) { _ in nil }])
    service.track(EventType.GameReset())
    await service.flush()
    #expect(first.names == [] && second.names == ["Game Reset"])
  }

  @Test func `an event's own closure changes or drops that one event`() async throws {
    let recorder = AnalyticsRecorder()
    let service = try AnalyticsService(providers: [recorder])
    service.track(EventType.GameReset()) { _ in nil }
    service.track(EventType.GameReset()) { event in
      var event = event
      event.userId = "only here"
      return event
    }
    service.track(EventType.GameReset())
    await service.flush()
    #expect(recorder.envelopes.map(\.userId) == ["only here", nil])
    #expect(await service.metrics.dropped == 1)
  }
}
