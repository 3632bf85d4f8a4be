import EventModel
import Testing
import TrackingPlan

/// Tests of plans on the bus.
@Suite struct PlanFeedTests {
  private static func plan(_ version: Int, paths: Int = 1) throws -> PublishedPlan {
    var plan = PlanDocument(version: version)
    plan.collection.entries = [
      .init(
        "É", patterns: try (0..<paths).map { try EventPathPattern(parsing: "#äöü:#Screen\($0)") })
    ]
    return try PublishedPlan(plan)
  }

  private static func properties(_ plan: PublishedPlan) -> [PropertyObject?] {
    plan.events.map(\.eventProperties)
  }

  @Test func `a plan in one piece is taken and a lower version is not`() throws {
    var feed = PlanFeed()
    let (second, first) = (try Self.plan(2), try Self.plan(1))
    #expect(feed.take(Self.properties(second)[0]) == .replaced(second))
    #expect(feed.take(Self.properties(second)[0]) == .repeated)
    #expect(feed.take(Self.properties(first)[0]) == .older(tag: first.tag))
    #expect(feed.take(Self.properties(try Self.plan(2, paths: 2))[0]) != .repeated)
    #expect(feed.current == second)
  }

  @Test func `a large plan travels in pieces and counts once it is whole`() throws {
    let large = try Self.plan(3, paths: 15_000)
    let pieces = Self.properties(large)
    #expect(pieces.count > 2)
    var feed = PlanFeed(current: try Self.plan(2))
    for piece in pieces.dropFirst() { #expect(feed.take(piece) == .partial) }
    // Those of another plan do not disturb it.
    #expect(feed.take(Self.properties(try Self.plan(1))[0]) != .partial)
    #expect(feed.take(pieces[0]) == .replaced(large))
    #expect(feed.current?.document.collection.entries[0].patterns.count == 15_000)
  }

  @Test func `a piece that was changed on the way gives no plan`() throws {
    var feed = PlanFeed()
    var broken = try #require(Self.properties(try Self.plan(1))[0])
    broken["text"] = .string(
      (broken["text"]?.stringValue ?? "").replacing("Screen0", with: "Screen1"))
    guard case .refused(let text) = feed.take(broken) else {
      Issue.record("a changed plan was taken")
      return
    }
    #expect(text.hasPrefix("the pieces of plan 1-"))
    #expect(feed.current == nil)
    #expect(feed.take(PropertyObject()) != .partial)
    broken["parts"] = .int(1_000_000_000)
    guard case .refused = feed.take(broken) else {
      Issue.record("impossible parts were taken")
      return
    }
  }

  @Test func `plans that never become whole are forgotten`() throws {
    var feed = PlanFeed()
    let large = try Self.plan(9, paths: 15_000)
    #expect(feed.take(Self.properties(large)[0]) == .partial)
    for version in 10..<14 {
      #expect(feed.take(Self.properties(try Self.plan(version, paths: 15_000))[0]) == .partial)
    }
    for piece in Self.properties(large).dropFirst() { #expect(feed.take(piece) == .partial) }
    #expect(feed.current == nil)
  }
}
