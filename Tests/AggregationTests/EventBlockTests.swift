import SinkState
import Testing

@testable import Aggregation

/// Events go to reports in blocks, and what they say is found once for all reports.
@Suite struct EventBlockTests {
  private static let reports = """
    {"name": "plans", "by": ["properties.plan"], "window": "minute",
     "measures": ["count", {"unique": "user"}, {"sum": "properties.n"}]},
    {"name": "same", "by": ["properties.plan"], "window": "all",
     "measures": [{"unique": "user"}, {"top": "properties.plan"}, {"quantiles": "properties.n"}]},
    {"name": "pro", "where": ["properties.plan=pro"], "by": ["event", "properties.plan"]},
    {"name": "sizes", "by": [{"of": "properties.n", "bounds": [10, 100]}], "window": "all"},
    {"name": "users", "by": ["user"], "window": "all"},
    {"name": "funnel", "funnel": ["E0", "E1"], "window": "all"}
    """

  /// Late and early ones among them, some without a plan, some twice.
  private static let lines = (0..<700).map { number in
    let plan = ["\"pro\"", "\"free\"", "1", "1.0", "true", "null", "[1]"][number % 7]
    let minute = (number * 37 % 50) + 10
    return Line.track(
      "E\(number % 3)", "u\(number % 40)", "2024-05-01T12:\(minute):00Z", id: "\(number % 660)",
      "{\"plan\":\(plan),\"n\":\(number)}")
  }

  @Test func `how events are cut into blocks changes no answer`() throws {
    let whole = try Trial(Self.reports)
    try whole.feed(Self.lines)
    let single = try Trial(Self.reports)
    for line in Self.lines { try single.feed([line]) }
    #expect(whole.core.progress.ledger.duplicate == 40)
    #expect(whole.core.progress == single.core.progress)
    // Hashes of users are keyed anew in each file.
    for definition in whole.definitions where definition.name != "users" {
      let answers = try [whole, single].map { try $0.json(definition.name) }
      #expect(answers[0] == answers[1], "\(definition.name)")
    }
  }

  @Test func `groups keep their counts when reports come and go around them`() throws {
    let trial = try Trial(Self.reports)
    try trial.feed(Self.lines[..<300])
    try trial.changeReports { Array($0.reversed()) }
    try trial.feed(Self.lines[300..<500])
    try trial.changeReports { Array($0.sorted { $0.definition.name < $1.definition.name }) }
    try trial.feed(Self.lines[500...])
    let whole = try Trial(Self.reports)
    try whole.feed(Self.lines)
    for name in ["plans", "same", "pro", "sizes"] {
      #expect(try trial.json(name) == whole.json(name), "\(name)")
    }
  }

  @Test func `groups beyond those that have a number are counted all the same`() throws {
    let count = GroupNumbering.groupLimit + 1000
    let trial = try Trial(
      #"{"name": "a", "by": ["properties.n"], "window": "all", "limit": 100000}"#)
    for _ in 0..<2 {
      try trial.feed(
        (0..<count).lazy.map { Line.track("E", nil, "2024-05-01T12:00:00Z", "{\"n\":\($0)}") })
    }
    let answer = try trial.answer("a", ReportQuestion(groups: 100_000))
    #expect(answer["groups"].list.count == count)
    #expect(answer["groups"].list.allSatisfy { $0["count"].number == 2 })
  }

  @Test func `numbers are given up to their bounds`() {
    var numbering = GroupNumbering(breakdowns: 2)
    let long = [UInt8](repeating: 1, count: GroupNumbering.keyLimit + 1)
    unsafe #expect(numbering.number(of: long.span.bytes, 0) == EventBlock.Group.unnumbered)
    for number in 0..<GroupNumbering.groupLimit {
      unsafe #expect(numbering.number(of: Array("\(number)".utf8).span.bytes, 0) == Int32(number))
    }
    let next = Array("next".utf8)
    unsafe #expect(numbering.number(of: next.span.bytes, 0) == EventBlock.Group.unnumbered)
    unsafe #expect(numbering.number(of: Array("7".utf8).span.bytes, 0) == 7)
    unsafe #expect(numbering.number(of: next.span.bytes, 1) == 0)
  }
}
