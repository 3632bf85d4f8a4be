import BusProtocol
import EventCodec
import EventModel
import HTTPServer
import Synchronization
import Testing
import TrackingPlan

@testable import Collector

/// Tests of raw paths and of the plan in the collector (S3.6, S3.8).
@Suite struct PathMappingTests {
  private static let place = "#tap:#UITapGestureRecognizer#BannerView[2]#HomeViewController"

  private static func plan(_ version: Int, event: String = "Banner Tapped") throws -> PublishedPlan
  {
    let text = """
      {"version": \(version), "collection": {"events": [{"event": "\(event)",
       "paths": ["#tap:#*#BannerView[*]#..."],
       "properties": {"url": {"state": "url"}, "channel": {"value": "app"}}}],
       "exclude": {"screens": ["Login*"]}, "mask": ["secret"]}}
      """
    return try PublishedPlan(try PlanDocument(parsing: Array(text.utf8)))
  }

  private static func core(_ holder: PlanHolder, rules: String = "") throws -> CollectorCore {
    CollectorCore(
      keys: WriteKeys([]), maximumBodyBytes: 4 << 20,
      rules: rules.isEmpty ? PropertyRules() : try PropertyRules(json: Array(rules.utf8)),
      plan: holder)
  }

  private static func raw(_ path: String, id: String = "1") -> String {
    """
    {"event": "$autotrack", "anonymousId": "a", "messageId": "\(id)",
     "properties": {"$path": "\(path)", "own": 1}}
    """
  }

  @Test func `S3.8 a raw path becomes the plan's event before anything is stored`() throws {
    let holder = PlanHolder()
    _ = holder.take(try Self.plan(1))
    var core = try Self.core(holder)
    let verdicts = try core.verdicts(
      "/v1/track", Self.raw(Self.place + "#url=https://a.example/#secret=x"))
    let event = try #require(try verdicts.envelopes().first)
    #expect(event.event == "Banner Tapped")
    #expect(event.messageId == "1")
    #expect(event.timestamp?.nanoseconds == arrival)
    #expect(
      event.properties
        == PropertyObject([
          .init("$path", .string(Self.place + "#url=https://a.example/")), .init("own", 1),
          .init("url", "https://a.example/"), .init("channel", "app"),
        ]))
    #expect(holder.metrics.mapped == 1)
  }

  @Test func `S3.8 an event named by its path is mapped like one with the path as property`() throws
  {
    let holder = PlanHolder()
    _ = holder.take(try Self.plan(1))
    var core = try Self.core(holder)
    let batch = """
      [{"event": "\(Self.place)", "anonymousId": "a"}, {"event": "#5 of the list", "anonymousId": "a"},
       {"event": "$pageview", "anonymousId": "a"}]
      """
    let names = try core.verdicts("/v1/events", batch).envelopes().map(\.event)
    // What only looks like a path stays what it is.
    #expect(names == ["Banner Tapped", "#5 of the list", "$pageview"])
    let other =
      "{\"event\": \"Tapped\", \"properties\": {\"distinct_id\": \"d\", \"token\": \"t\"}}"
    #expect(try core.verdicts("/track", other).envelopes().map(\.event) == ["Tapped"])
    let mixpanel = """
      {"event": "$autotrack", "properties": {"distinct_id": "d", "$path": "\(Self.place)"}}
      """
    #expect(try core.verdicts("/track", mixpanel).envelopes().map(\.event) == ["Banner Tapped"])
  }

  @Test func `S3.8 unmapped paths are stored as they came, counted and listed`() throws {
    let holder = PlanHolder()
    var core = try Self.core(holder)
    // Before there is a plan as well.
    #expect(
      try core.verdicts("/v1/track", Self.raw(Self.place)).envelopes()[0].event == "$autotrack")
    #expect(holder.unmapped(10) == [.init(path: Self.place, count: 1)])
    _ = holder.take(try Self.plan(1))
    #expect(holder.unmapped(10) == [])
    for _ in 0..<2 { _ = try core.verdicts("/v1/track", Self.raw("#tap:#A#B#s=1")) }
    #expect(holder.unmapped(10) == [.init(path: "#tap:#A#B", count: 2)])
    #expect(holder.metrics.unmapped == 3)
    #expect(holder.metrics.unmappedPaths == 1)
  }

  @Test func `S3.4 what the plan excludes is refused and not stored`() throws {
    let holder = PlanHolder()
    _ = holder.take(try Self.plan(1))
    var core = try Self.core(holder)
    let verdicts = try core.verdicts(
      "/v1/batch", "{\"batch\": [\(Self.raw("#tap:#A#LoginView")), \(Self.raw(Self.place))]}")
    #expect(verdicts.codes == ["EXCLUDED", "STORED"])
    #expect(try verdicts.envelopes().map(\.event) == ["Banner Tapped"])
    #expect(holder.metrics.excluded == 1)
  }

  @Test func `rules for properties see the event's name and not its path`() throws {
    let holder = PlanHolder()
    _ = holder.take(try Self.plan(1))
    var core = try Self.core(
      holder, rules: "{\"rules\": [{\"events\": [\"Banner *\"], \"drop\": [\"properties.$path\"]}]}"
    )
    let event = try core.verdicts("/v1/track", Self.raw(Self.place)).envelopes()[0]
    #expect(event.properties?["$path"] == nil)
    #expect(event.properties?["own"] == 1)
  }

  @Test func `a plan is not taken from a client`() throws {
    var core = try Self.core(PlanHolder())
    let verdicts = try core.verdicts("/v1/track", "{\"event\": \"$plan\", \"anonymousId\": \"a\"}")
    #expect(verdicts.codes == ["FORBIDDEN"])
  }

  @Test func `S3.6 another plan takes effect with the next request and ends waiting for it`() throws
  {
    let holder = PlanHolder()
    let first = try Self.plan(1)
    _ = holder.take(first)
    var core = try Self.core(holder)
    let answers = Mutex<[UInt32]>([])
    #expect(
      holder.wait(first.tag) { answer in answers.withLock { $0.append(answer.status) } } != nil)
    #expect(holder.wait("0-0") { _ in } == nil)
    #expect(holder.waiting == 1)
    _ = holder.take(try Self.plan(2, event: "Banner Pressed"))
    #expect(answers.withLock { $0 } == [200])
    #expect(holder.waiting == 0)
    let event = try core.verdicts("/v1/track", Self.raw(Self.place)).envelopes()[0]
    #expect(event.event == "Banner Pressed")
  }

  @Test func `no more requests wait for a plan than there is room for`() throws {
    let holder = PlanHolder()
    let plan = try Self.plan(1)
    _ = holder.take(plan)
    let waiting = (0..<1001).compactMap { _ in holder.wait(plan.tag) { _ in } }
    #expect(waiting.count == PlanHolder.maximumWaiters)
    holder.forget(waiting[0])
    #expect(holder.wait(plan.tag) { _ in } != nil)
    holder.endWaiting()
    #expect(holder.waiting == 0)
  }

  @Test(
    arguments: [
      (nil, 0, 0, true), (5, 6, 100, true), (0, 0, 500, false), (0, 0, 5000, true),
      (4000, 0, 5000, false), (2000, 0, 5000, true), (2000, 1999, 5000, true), (10, 0, 10, false),
    ] as [(UInt64?, UInt64, UInt64, Bool)])
  func `S3.6 a plan in the older half of the journal, or gone, is published anew`(
    _ offset: UInt64?, _ earliest: UInt64, _ head: UInt64, _ mustRepublish: Bool
  ) {
    #expect(
      PlanKeeper.mustRepublish(at: offset, earliest: earliest, head: head) == mustRepublish)
  }
}
