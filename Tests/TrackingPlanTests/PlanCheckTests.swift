import EventModel
import Testing
import TrackingPlan

/// Tests of plans made from events, of events held against plans, and of plans compared.
@Suite struct PlanCheckTests {
  private static let right = PropertyObject([
    .init("total", .double(9.5)), .init("Payment Kind", "card"), .init("placedAt", "2026-11-30"),
  ])

  private static func problems(_ change: (inout PropertyObject) -> Void) throws -> [String] {
    var properties = right
    change(&properties)
    return PlanCheck(try SamplePlan.plan()).problems("Order Placed", properties)
      .map { "\($0.property): \($0.text)" }
  }

  @Test func `an event that is as planned has no problem`() throws {
    #expect(try Self.problems { _ in } == [])
    #expect(try Self.problems { $0["total"] = 9 } == [])
    #expect(try Self.problems { $0["coupon"] = .null } == [])
    let check = PlanCheck(try SamplePlan.plan())
    #expect(check.problems("Banner Tapped", PropertyObject([.init("x", 1)])) == [])
    #expect(check.problems("App Opened", nil) == [])
  }

  @Test func `each difference from the plan is named`() throws {
    #expect(try Self.problems { $0["total"] = nil } == ["total: required, and missing"])
    #expect(try Self.problems { $0["total"] = true } == ["total: boolean, where number is planned"])
    #expect(try Self.problems { $0["total"] = "9" } == ["total: string, where number is planned"])
    #expect(
      try Self.problems { $0["Payment Kind"] = "cash" } == [
        "Payment Kind: none of the planned values"
      ])
    #expect(
      try Self.problems { $0["placedAt"] = "soon" } == ["placedAt: string, where date is planned"])
    #expect(
      try Self.problems { $0["cupon"] = "A" }
        == ["cupon: no such property in the plan; did you mean \"coupon\"?"])
    let check = PlanCheck(try SamplePlan.plan())
    #expect(
      check.problems("Order placed", nil).map(\.description)
        == ["\"Order placed\": not in the plan; did you mean \"Order Placed\"?"])
  }

  @Test func `equal problems are counted together with their first place`() throws {
    var check = PlanCheck(try SamplePlan.plan())
    check.take("App Opened", nil, at: 1)
    check.take("Gone", nil, at: 2)
    check.take("Gone", nil, at: 3)
    check.take("Order Placed", PropertyObject(), at: 4)
    #expect(check.checked == 4)
    #expect(check.wrong == 3)
    #expect(check.findings.map(\.count) == [2, 1, 1])
    #expect(check.findings.map(\.first) == [2, 4, 4])
  }

  @Test func `what the bus says to its own sinks is in no plan`() throws {
    var inference = PlanInference()
    for name: EventType in ["Game Ended", "$forget", "$plan", "$identify"] {
      inference.take(name, nil)
    }
    #expect(inference.count == 1)
    let plan = try PlanDocument(parsing: inference.plan.json)
    #expect(plan.events.count == 1)
  }

  @Test func `a plan made from events holds for these events`() throws {
    var inference = PlanInference(maximumValues: 3)
    for number in 0..<40 {
      inference.take(
        "Level Done",
        PropertyObject(
          [
            .init("level", .int(Int64(number))), .init("kind", number % 2 == 0 ? "hard" : "easy"),
            .init("ratio", number % 3 == 0 ? .int(1) : .double(0.5)),
            .init("at", "2026-11-30T10:00:00Z"), .init("nothing", .null),
          ] + (number > 5 ? [.init("bonus", true)] : [])))
    }
    inference.take("App Opened", nil)
    let plan = inference.plan
    #expect(plan.events.map(\.name) == ["App Opened", "Level Done"])
    let level = try #require(plan[event: "Level Done"])
    #expect(level.properties.map(\.name) == ["level", "kind", "ratio", "at", "nothing", "bonus"])
    #expect(
      level.properties.map(\.types.description)
        == ["integer", "string", "number", "date", "any", "boolean"])
    #expect(level.properties.map(\.isRequired) == [true, true, true, true, false, false])
    #expect(level[property: "kind"]?.values == ["easy", "hard"])
    #expect(try PlanDocument(parsing: plan.json) == plan)
    let check = PlanCheck(plan)
    #expect(
      check.problems(
        "Level Done",
        PropertyObject([
          .init("level", 1), .init("kind", "easy"), .init("ratio", 1), .init("at", "2026-01-01"),
        ])) == [])
  }

  private static func change(
    _ edit: (String) -> String
  ) throws -> [String] {
    let new = try PlanDocument(parsing: Array(edit(SamplePlan.text).utf8))
    return PlanDifference(from: try SamplePlan.plan(), to: new).changes.map(\.description)
  }

  @Test func `changes that break somebody say whom`() throws {
    #expect(try Self.change { $0 } == [])
    #expect(
      try Self.change { $0.replacing("\"App Opened\": {}", with: "\"App Closed\": {}") }
        == ["\"App Opened\": removed (breaks producers and readers)", "\"App Closed\": added"])
    #expect(
      try Self.change { $0.replacing("\"number\", \"required\": true", with: "\"integer\"") } == [
        "\"Order Placed\", \"total\": no longer required (breaks readers)",
        "\"Order Placed\", \"total\": number became integer (breaks producers)",
      ])
    #expect(
      try Self.change { $0.replacing("[\"card\", \"invoice\"]", with: "[\"card\", \"cash\"]") } == [
        "\"Order Placed\", \"Payment Kind\": \"invoice\" is no longer a value (breaks producers)",
        "\"Order Placed\", \"Payment Kind\": \"cash\" is a new value (breaks readers)",
      ])
    #expect(
      try Self.change {
        $0.replacing("\"class\": {\"type\": \"boolean\"}", with: "\"id\": {\"required\": true}")
      } == [
        "\"Order Placed\", \"class\": removed (breaks producers)",
        "\"Order Placed\", \"id\": added, and required (breaks producers)",
      ])
  }

  @Test func `changes of the collection are named`() throws {
    #expect(
      try Self.change { $0.replacing("BannerView[*]", with: "AdView[*]") } == [
        "\"Banner Tapped\": #tap:#UITapGestureRecognizer#BannerView[*]#... no longer means it",
        "\"Banner Tapped\": #tap:#UITapGestureRecognizer#AdView[*]#... means it now",
      ])
    #expect(
      try Self.change { $0.replacing("\"url\": {\"state\": \"url\"}, ", with: "") }
        == ["\"Banner Tapped\", \"url\": no longer collected (breaks readers)"])
    #expect(
      try Self.change { $0.replacing("[\"Login*\"]", with: "[\"Login*\", \"Pin*\"]") }
        == ["\"*\": screens excluded: Pin* is new (breaks readers)"])
  }
}
