import EventModel
import Testing
import TrackingPlan

/// Tests of the plan's file.
@Suite struct PlanDocumentTests {
  @Test func `a plan is read with all that it says`() throws {
    let plan = try SamplePlan.plan()
    #expect(plan.version == 7)
    #expect(plan.events.map(\.name) == ["Order Placed", "Banner Tapped", "App Opened"])
    let order = try #require(plan[event: "Order Placed"])
    #expect(order.text == "The buyer confirmed the order.")
    #expect(order[property: "total"]?.types == .number)
    #expect(order[property: "total"]?.isRequired == true)
    #expect(order[property: "coupon"]?.types == [.string, .null])
    #expect(order[property: "Payment Kind"]?.values == ["card", "invoice"])
    #expect(plan.collection.entries.count == 2)
    #expect(
      plan.collection.entries[0].properties[0].source
        == .keyPath(["viewController", "cart", "total"]))
    #expect(plan.collection.entries[1].properties[1].source == .constant(.int(3)))
    #expect(plan.collection.excludedScreens == ["Login*"])
    #expect(plan.collection.maskedNames == ["amount*"])
  }

  @Test func `a plan that was written reads back the same`() throws {
    let plan = try SamplePlan.plan()
    #expect(try PlanDocument(parsing: plan.json) == plan)
    let compact = plan.compactForApps
    #expect(try PlanDocument(parsing: compact) == plan.forApps)
    #expect(!compact.contains(10))
    #expect(try PlanDocument(parsing: compact).compactForApps == compact)
  }

  @Test(arguments: [false, true])
  func `a plan without events reads back the same, whether it allows others or not`(
    _ allowsOthers: Bool
  ) throws {
    var plan = PlanDocument(version: 1)
    plan.allowsOthers = allowsOthers
    #expect(try PlanDocument(parsing: plan.json) == plan)
  }

  @Test func `a constant keeps its type and its digits`() throws {
    let values = ["1", "1.0", "true", "\"1\"", "18446744073709551615", "-0.0", "1e300"]
    let members = values.enumerated().map { "\"p\($0)\": {\"value\": \($1)}" }
    let plan = try PlanDocument(
      parsing: Array(
        """
        {"version": 1, "collection": {"events": [{"event": "E", "paths": ["#a:#b"],
         "properties": {\(members.joined(separator: ", "))}}]}}
        """.utf8))
    let sources = plan.collection.entries[0].properties.map(\.source)
    let expected: [PropertyValue] = [
      .int(1), .double(1), .bool(true), .string("1"), .uint(.max), .double(-0.0), .double(1e300),
    ]
    #expect(sources == expected.map { .constant($0) })
    #expect(try PlanDocument(parsing: plan.json) == plan)
  }

  @Test(arguments: [
    ("{\"versoin\": 1}", 1, "\"versoin\" is not known in a plan; did you mean \"version\"?"),
    ("{\n\"version\": 0}", 2, "\"version\" is a whole number from 1 on"),
    ("{\n\"events\": {}}", 1, "\"version\" is missing: a number that grows with each plan"),
    (
      "{\"version\": 1,\n\"events\": {\n\"A\": {\"propertys\": {}}}}", 3,
      "\"propertys\" is not known in \"A\"; did you mean \"properties\"?"
    ),
    (
      "{\"version\": 1, \"events\": {\"A\": {\"properties\": {\n\"b\": {\"type\": \"strnig\"}}}}}",
      2,
      "\"strnig\" is not known as a type; did you mean \"string\"?"
    ),
    (
      "{\"version\": 1, \"events\": {\"A\": {\"properties\": {\"b\": {\"type\": \"integer\",\n\"values\": [\"x\"]}}}}}",
      2, "\"values\" are texts, and the type is integer"
    ),
    (
      "{\"version\": 1, \"events\": {\n\"$identify\": {}}}", 2,
      "\"$identify\" is no name of an event: $identify is reserved"
    ),
    (
      "{\"version\": 1, \"events\": {\"Order Placed\": {}}, \"collection\": {\"events\": [\n{\"event\": \"Order Plaecd\", \"paths\": [\"#a:#b\"]}]}}",
      2, "\"Order Plaecd\" is not known among the plan's events; did you mean \"Order Placed\"?"
    ),
    (
      "{\"version\": 1, \"events\": {\"A\": {\"properties\": {\"total\": {}}}}, \"collection\": {\"events\": [{\"event\": \"A\", \"paths\": [\"#a:#b\"], \"properties\": {\n\"totla\": {\"value\": 1}}}]}}",
      2, "\"totla\" is not known among the properties of \"A\"; did you mean \"total\"?"
    ),
    (
      "{\"version\": 1, \"collection\": {\"events\": [{\"event\": \"A\",\n \"paths\": [\"#a:#b[x]\"]}]}}",
      2,
      "\"#a:#b[x]\" is no path: an index is a number in brackets, as UIView[0] at byte 4"
    ),
    (
      "{\"version\": 1, \"collection\": {\"events\": [{\"event\": \"A\", \"paths\": [\"#a:#b\"],\n\"properties\": {\"u\": \"viewControler.banner.url\"}}]}}",
      2,
      "\"viewControler\" is not known as the start of a key path; did you mean \"viewController\"?"
    ),
    (
      "{\"version\": 1, \"collection\": {\"events\": [{\"event\": \"A\", \"paths\": []}]}}", 1,
      "\"paths\" is empty: nothing would mean \"A\""
    ),
    (
      "{\"version\": 1, \"collection\": {\"mask\": \"amount\"}}", 1,
      "\"mask\" is a list, not a text"
    ),
    ("{\"version\": 1,}", 1, "a key in quotes is missing"),
  ])
  func `what is wrong is told with its line and the nearest right word`(
    _ text: String, _ line: Int, _ message: String
  ) {
    let error = #expect(throws: PlanError.self) {
      try PlanDocument(parsing: Array(text.utf8), path: "plan.json")
    }
    #expect(error?.description == "plan.json, line \(line): \(message)")
  }

  @Test func `a plan beyond its limits is refused`() {
    let large = [UInt8](repeating: 32, count: PlanLimits.maximumBytes + 1)
    let error = #expect(throws: PlanError.self) { try PlanDocument(parsing: large) }
    #expect(error?.text == "the plan has 2097153 bytes; 2097152 are allowed")
    let paths = repeatElement("\"#a:#b\"", count: PlanLimits.maximumPatterns + 1)
    let many =
      "{\"version\": 1, \"collection\": {\"events\": [{\"event\": \"A\", \"paths\": ["
      + paths.joined(separator: ",") + "]}]}}"
    let other = #expect(throws: PlanError.self) { try PlanDocument(parsing: Array(many.utf8)) }
    #expect(other?.text == "20001 paths and names; 20000 are allowed")
  }
}
