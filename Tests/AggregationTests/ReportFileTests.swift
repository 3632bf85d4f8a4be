import Testing

@testable import Aggregation

@Suite struct ReportFileTests {
  private func parse(_ text: String) throws -> [ReportDefinition] {
    try ReportFile.parse(Array(text.utf8), path: "reports.json")
  }

  @Test func `every kind of report is read`() throws {
    let reports = try parse(
      """
      {"reports": [
        {"name": "checkout", "title": "Checkout", "events": ["Checkout *"],
         "where": ["properties.plan=pro"],
         "measures": ["count", "people", {"unique": "user", "exact": 100},
           {"sum": "properties.value"}, {"quantiles": "properties.ms", "at": [0.5, 0.99]},
           {"top": "properties.query", "limit": 20},
           {"histogram": "properties.ms", "bounds": [1, 2.5]}],
         "by": ["event", {"of": "properties.value", "buckets": "MoveCountCategory"}],
         "window": "hour", "zone": "Europe/Berlin", "lateness": "2m", "keep": "30d", "limit": 50},
        {"name": "purchase", "funnel": ["Cart Viewed", {"exact": "Order*"}], "within": "1h"},
        {"name": "come-back", "retention": {"first": "Signed Up"}, "window": "week"},
        {"name": "visits", "sessions": {"gap": 600}, "fill": true}
      ]}
      """)
    #expect(reports.count == 9)
    let last = reports.suffix(4).map(\.name)
    #expect(last == ["checkout", "purchase", "come-back", "visits"])
    let checkout = reports[5]
    #expect(checkout.lateness == 120 && checkout.keep == 30 * 86_400 && checkout.limit == 50)
    #expect(checkout.zone == "Europe/Berlin" && checkout.window == .hour)
    #expect(reports[8].fills)
  }

  @Test func `without reports the file leaves the usual ones`() throws {
    #expect(try parse(#"{"reports": []}"#).map(\.name) == ReportDefinition.defaults.map(\.name))
    #expect(try parse(#"{"reports": [], "defaults": false}"#).isEmpty)
  }

  @Test(arguments: [
    ("{\n\"reports\": [\n{\"name\": \"a\",\n\"windw\": \"day\"}]}", 4, "did you mean \"window\"?"),
    ("{\"reports\":\n[{\"name\": \"a\",\n\n\"window\": \"daily\"}]}", 4, "did you mean \"day\"?"),
    ("{\"reports\": [{\"name\": \"a\", \"measures\": [\"cuont\"]}]}", 1, "did you mean \"count\"?"),
    ("{\"reports\": [{\"name\": \"a\", \"measures\": [\"sum\"]}]}", 1, "sum of what?"),
    (
      "{\"reports\": [{\"name\": \"a\",\n\"by\": [\"plan\"]}]}", 2,
      "did you mean \"properties.plan\"?"
    ),
    ("{\"reports\": [\n{\"measures\": [\"count\"]}]}", 2, "\"name\" is missing"),
    ("{\"reports\": [\n\n{\"name\": \"a\" \"b\"}]}", 3, "a comma or } is missing"),
    ("{\"reports\": [{\"name\": \"a\", \"zone\": \"Europe/Berln\"}]}", 1, "no time zone"),
    ("{\"reports\": [{\"name\": \"a\"},\n{\"name\": \"a\"}]}", 2, "another report \"a\""),
    ("{\"reports\": [{\"name\": \"a\", \"funnel\": [\"x\"]}]}", 1, "2 to 20 steps"),
    ("{\"reports\": [{\"name\": \"a\", \"where\": [\"x\"]}]}", 1, "no condition"),
    ("{\"reports\": [{\"name\": \"a b\"}]}", 1, "a name has"),
    ("{\"reports\": [{\"name\": \"a\", \"lateness\": \"soon\"}]}", 1, "a time such as"),
    (
      "{\"reports\": [{\"name\": \"a\", \"measures\": [{\"quantiles\": \"properties.x\", \"at\": [2]}]}]}",
      1, "from 0 to 1"
    ),
    (
      "{\"reports\": [{\"name\": \"a\",\n\"by\": [\"event\",\n\"event\"]}]}", 3,
      "\"event\" stands here twice"
    ),
    (
      "{\"reports\": [{\"name\": \"a\", \"by\": [\"userId\", {\"of\": \"userId\"}]}]}", 1,
      "\"userId\" stands here twice"
    ),
    (
      "{\"reports\": [{\"name\": \"a\", \"measures\": [{\"top\": \"properties.x\"},\n"
        + "{\"top\": \"properties.x\", \"limit\": 5}]}]}", 2,
      "\"top properties.x\" stands here twice"
    ),
    (
      "{\"reports\": [{\"name\": \"a\", \"measures\": [{\"quantiles\": \"properties.x\","
        + " \"at\": [0.5, 0.50]}]}]}", 1, "\"p50\" stands here twice"
    ),
    ("{\"reports\": {}}", 1, "a list is wanted"), ("[", 1, "too early"), ("", 1, "too early"),
    ("{\"report\": []}", 1, "did you mean \"reports\"?"),
  ])
  func `what is wrong is told with its line and the nearest right word`(
    text: String, line: Int, message: String
  ) {
    let error = #expect(throws: ReportFileError.self) { try parse(text) }
    #expect(error?.line == line)
    #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
  }

  @Test func `a report that counts something else has another signature`() throws {
    func signature(_ more: String) throws -> String {
      try parse(#"{"defaults": false, "reports": [{"name": "a"\#(more)}]}"#)[0].signature
    }
    let plain = try signature("")
    #expect(try signature(#", "title": "T", "fill": true"#) == plain)
    for change in [
      #", "window": "hour""#, #", "where": ["userId=a"]"#, #", "by": ["event"]"#,
      #", "measures": [{"sum": "properties.a"}]"#, #", "zone": "Europe/Berlin""#,
    ] { #expect(try signature(change) != plain) }
  }
}
