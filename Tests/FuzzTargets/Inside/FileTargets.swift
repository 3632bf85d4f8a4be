// Files and words that people write.
//
//   reports   a file of report definitions; a refusal names a line of it
//   plan      a tracking plan; what parses is written as what parses as the same plan
//   words     [words, parted by newlines]: a command line
//   quantity  a size, a duration, a rate, an address; base64 and hexadecimal text
internal import Aggregation
internal import Hashing
internal import Primitives
internal import ServiceRuntime
internal import TrackingPlan

let fileTargets = [
  FuzzTarget(
    "reports",
    seeds: [
      #"""
      {"reports": [{"name": "a", "events": ["C *"], "where": ["properties.p=1"], "measures": ["count",
      {"unique": "user"}, {"quantiles": "properties.ms", "at": [0.5]}], "by": ["properties.c"], "window": "hour",
      "zone": "Europe/Berlin"}, {"name": "b", "funnel": ["C", "D"], "within": "1h"}]}
      """#,
      #"""
      {"reports": [{"name": "c", "retention": {"first": "S", "back": "*"}, "window": "week"},
      {"name": "d", "sessions": {"gap": "30m"}}], "defaults": false}
      """#,
    ], run: readReports),
  FuzzTarget(
    "plan",
    seeds: [
      #"""
      {"version": 3, "events": {"A": {"description": "d", "properties": {"p": {"type": "number", "required": true,
      "values": [1, 2]}, "q": "string"}, "others": false}}, "others": true}
      """#,
      ##"""
      {"version": 1, "events": {"A": {}}, "collection": {"events": [{"event": "A", "paths": ["#tap:#UIButton#..."],
      "properties": {"t": "viewController.cart.total", "u": {"state": "url"}, "c": {"value": "app"}}}],
      "exclude": {"screens": ["Login*"], "paths": ["#*:#...#PinPad#..."]}, "mask": ["amount*"]}}
      """##,
    ], run: readPlan),
  FuzzTarget(
    "words",
    seeds: ["run\n--size=3MiB\nfile", "run\n--level\nlow\n--\n-x", "help\nrun", "run\n--hepl"],
    run: readWords),
  FuzzTarget(
    "quantity",
    seeds: ["1.5GiB", "90us", "600/m", "[::1]:7400", "YWJj", "00ff", "9223372036854775807w"],
    run: readQuantity),
]

private func readReports(_ input: [UInt8]) throws(Violation) {
  let lines = input.count { $0 == 0x0A } + 1
  let result = answer { () throws(ReportFileError) in try ReportFile.parse(input, path: "f") }
  guard case .failure(let error) = result else { return }
  try require((1...lines).contains(error.line), "\(error)")
}

private func readPlan(_ input: [UInt8]) throws(Violation) {
  let lines = input.count { $0 == 0x0A } + 1
  switch answer({ () throws(PlanError) in try PlanDocument(parsing: input) }) {
  case .failure(let error): try require((1...lines).contains(error.line), "\(error)")
  case .success(let plan):
    let again = try accepted("what was written: \(plan.json.text)") { () throws(PlanError) in
      try PlanDocument(parsing: plan.json)
    }
    try require(again == plan && again.json == plan.json, "\(plan.json.text)")
  }
}

let sampleParser = CommandLineParser(
  program: "p", version: "1",
  commands: [
    CommandDefinition(
      name: "run", group: "g", summary: "s",
      positionals: [PositionalDefinition("FILE", help: "h", count: .many)],
      options: [
        .option("size", "SIZE", help: "h", default: "1MiB"), .flag("quick", help: "h"),
        .repeated("where", "W", help: "h"),
        .option("level", "L", help: "h", choices: ["low", "high"]),
      ], exclusive: [["quick", "level"]]),
    CommandDefinition(name: "run fast", group: "g", summary: "s"),
  ])

private func readWords(_ input: [UInt8]) throws(Violation) {
  let words = input.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  let request = answer { () throws(UsageError) in
    try sampleParser.parse(words, environment: ["EVENTBUS_WHERE": "a,b"])
  }
  _ = Completer(sampleParser).answer(words)
  switch request {
  case .failure(let error): try require(!"\(error)".isEmpty, "an error without a word")
  case .success(.show): return
  case .success(.run(let arguments)):
    _ = answer { () throws(UsageError) in try arguments.optional("size", as: ByteSize.self) }
  }
}

private func readQuantity(_ input: [UInt8]) throws(Violation) {
  let text = input.text
  if let size = ByteSize(argument: text) {
    try require(ByteSize(argument: size.description) == size, "\(size)")
  }
  if let rate = Rate(argument: text) { try require(rate.perSecond > 0, "\(rate)") }
  if let duration = Duration(argument: text) { try require(duration >= .zero, "\(duration)") }
  if let address = HostPort(argument: text) {
    try require(HostPort(argument: "\(address)") == address, "\(address)")
  }
  if let bytes = Base64.decode(text) {
    try require(Base64.decode(Base64.encode(bytes)) == bytes, "\(bytes)")
  }
  try require(Base64.decode(Base64.encode(input)) == input, "base64 of \(input)")
}
