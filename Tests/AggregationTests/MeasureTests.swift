import Primitives
import Testing

@testable import Aggregation

@Suite struct MeasureTests {
  private let time = "2024-05-01T12:00:00.000Z"

  @Test func `numbers are counted, what is none is left out and counted too`() throws {
    let trial = try Trial(
      #"{"name": "points", "events": ["Score"], "window": "day", "measures": ["count", "#
        + #"{"sum": "properties.points"}, {"mean": "properties.points"}, "#
        + #"{"min": "properties.points"}, {"max": "properties.points"}, "#
        + #"{"histogram": "properties.points", "bounds": [0, 10, 20]}]}"#)
    let points = [
      "10", "10.0", "\"10\"", "\"ten\"", "\"\"", "null", "true", "20", "\"20.5\"", "-5", "[10]",
      "\"1e2\"", "\"NaN\"",
    ]
    try trial.feed(
      points.enumerated().map { index, value in
        Line.track("Score", "u\(index)", time, "{\"points\":\(value)}")
      })
    let total = try trial.answer()["total"]
    #expect(total["count"].number == 13)
    let sum = total["sum properties.points"]
    #expect(sum["value"].number == 35 && sum["count"].number == 4 && sum["leftOut"].number == 9)
    #expect(total["mean properties.points"]["value"].number == 8.75)
    #expect(total["min properties.points"]["value"].number == -5)
    #expect(total["max properties.points"]["value"].number == 20)
    let histogram = total["histogram properties.points"]
    #expect(histogram["< 0"].number == 1 && histogram["10 - 20"].number == 2)
    #expect(histogram[">= 20"].number == 1 && histogram["leftOut"].number == 9)
  }

  @Test func `true, 1, 1.0 and texts are groups of their own`() throws {
    let trial = try Trial(#"{"name": "on", "by": ["properties.on"], "window": "all"}"#)
    let values = ["true", "1", "\"1\"", "\"true\"", "1.0", "null", "1", "18446744073709551615"]
    try trial.feed(values.map { Line.track("Set", "u", time, "{\"on\":\($0)}") })
    try trial.feed([Line.track("Set", "u", time)])
    let groups = try trial.answer()["groups"]
    #expect(groups.list.count == 7)
    #expect(groups.group("1")["count"].number == 2)
    #expect(groups.group("true")["count"].number == 1)
    #expect(groups.group("\"true\"")["count"].number == 1)
    // Null and absent are one group.
    #expect(groups.group("null")["count"].number == 2)
  }

  @Test func `texts that read as other values stand in quotes, so rows are never alike`() throws {
    let trial = try Trial(#"{"name": "on", "by": ["properties.on"], "window": "all"}"#)
    let values = [
      "1", "\"1\"", "null", "\"null\"", "true", "\"true\"", "\"\"", "\"(other)\"", "\"yes\"",
      "\"1e2\"",
    ]
    try trial.feed(values.map { Line.track("Set", "u", time, "{\"on\":\($0)}") })
    let rows = try trial.reportAnswer().rows.rows.map { $0[0] }
    #expect(Set(rows.map(\.shown)).count == values.count)
    let quoted = Set(rows.filter(\.needsQuotes).map(\.text))
    #expect(quoted == ["1", "null", "true", "", "(other)", "1e2"])
    #expect(rows.contains { $0.shown == "yes" } && rows.contains { $0.shown == "\"1\"" })
  }

  @Test func `the table says which groups and values may miss events`() throws {
    let trial = try Trial(
      #"{"name": "q", "by": ["properties.q"], "window": "all", "limit": 2, "#
        + #""measures": ["count", {"top": "properties.q", "limit": 1}]}"#)
    let words = ["a", "a", "a", "b", "b", "c", "d", "e", "e", "e", "f", "g", "e", "a"]
    try trial.feed(words.map { Line.track("Set", "u", time, "{\"q\":\"\($0)\"}") })
    let answer = try trial.reportAnswer()
    let remarks = answer.remarks
    #expect(remarks.contains { $0.hasPrefix("e") && $0.contains("events of each are in (other)") })
  }

  @Test func `a property with too many values keeps the frequent ones and folds the rest`() throws {
    let trial = try Trial(
      #"{"name": "searches", "by": ["properties.query"], "window": "day", "limit": 100, "#
        + #""measures": ["count", {"top": "properties.query", "limit": 5}]}"#)
    for number in 0..<20_000 {
      try trial.feed([
        Line.track("Searched", "u\(number % 50)", time, "{\"query\":\"q\(number)\"}")
      ])
    }
    for _ in 0..<1000 {
      try trial.feed([Line.track("Searched", "u1", time, "{\"query\":\"shoes\"}")])
    }
    let answer = try trial.answer(nil, ReportQuestion(groups: 3))
    #expect(answer["total"]["count"].number == 21_000)
    let shoes = answer["groups"].group("\"shoes\"")
    #expect(shoes["count"].number == 1000 && shoes["mayMiss"].number ?? 1000 <= 200)
    let other = try #require(answer["groups"].list.last)
    #expect(other["other"].isTrue && other["folded"].number ?? 0 > 19_000)
    #expect(answer["groupsLeftOut"].number ?? 0 > 0)
    let top = answer["total"]["top properties.query"]
    #expect(top["values"][0]["value"].text == "shoes" && top["total"].number == 21_000)
    // Bounded in memory and on disk alike.
    #expect(trial.core.reports[0].windowBytes < 200_000)
  }

  @Test func `a search lists the groups that have its text, and totals stay those of all`() throws {
    let trial = try Trial(#"{"name": "names", "by": ["event"], "window": "day"}"#)
    for name in ["Order Placed", "Order Sent", "Größe", "Login"] {
      try trial.feed([Line.track(name, "u", time)])
    }
    var question = ReportQuestion(groups: 1)
    question.search = "oRDER"
    let answer = try trial.answer(nil, question)
    #expect(answer["groups"].list.map { $0["by"][0].text } == ["Order Sent"])
    #expect(answer["groupsLeftOut"].number == 1 && answer["total"]["count"].number == 4)
    #expect(answer["windows"][0]["groups"].list.count == 1)
    question.search = "GRÖ"
    question.listsWindows = false
    let other = try trial.answer(nil, question)
    #expect(other["groups"].list.map { $0["by"][0].text } == ["Größe"])
    #expect(other["windows"].list.isEmpty && other["total"]["count"].number == 4)
    question.search = "nothing"
    #expect(try trial.answer(nil, question)["groups"].list.isEmpty)
  }

  @Test func `moves fall into the buckets of the typed event`() throws {
    let trial = try Trial(
      #"{"name": "moves", "events": ["Game Ended"], "window": "all", "#
        + #""by": [{"of": "properties.value", "buckets": "MoveCountCategory"}]}"#)
    for moves in [0, 7, 8, 14, 15, 20, 21, 30, 31, 500, -1] {
      try trial.feed([Line.track("Game Ended", "u", time, "{\"value\":\(moves)}")])
    }
    let groups = try trial.answer()["groups"]
    for label in ["< 8", "8 - 14", "15 - 20", "21 - 30", "> 30"] {
      #expect(groups.group("\"\(label)\"")["count"].number == 2, "\(label)")
    }
    #expect(groups.group("\"invalid\"")["count"].number == 1)
  }

  @Test func `only matching events count, by name and by conditions`() throws {
    let trial = try Trial(
      #"{"name": "pro", "events": ["Game *"], "exact": ["A*"], "#
        + #""where": ["properties.plan=pro"], "window": "all", "by": ["event"]}"#)
    for name in ["Game Started", "Game", "A*", "AB", "Game Ended"] {
      for plan in ["pro", "free"] {
        try trial.feed([Line.track(name, "u", time, "{\"plan\":\"\(plan)\"}")])
      }
    }
    let answer = try trial.answer()
    #expect(answer["total"]["count"].number == 3)
    #expect(answer["groups"].group("\"A*\"")["count"].number == 1)
  }

  @Test func `quantiles of a group are by nearest rank`() throws {
    let trial = try Trial(
      #"{"name": "timed", "window": "all", "by": ["event"], "#
        + #""measures": [{"quantiles": "properties.ms", "at": [0.5, 0.92, 0.93, 1]}]}"#)
    let values = [
      2.5, 6.25, 11, 13.75, 14.125, 36.5, 47.25, 58, 61.5, 70.75, 79, 84.375, 88.5, 93.25,
    ]
    try trial.feed(values.map { Line.track("Timed", "u", time, "{\"ms\":\($0)}") })
    let found = try trial.answer()["groups"][0]["quantiles properties.ms"]
    #expect(found["p50"].number == 47.25 && found["p92"].number == 88.5)
    #expect(found["p93"].number == 93.25 && found["p100"].number == 93.25)
    #expect(found["error"].number == 0 && found["count"].number == 14)
  }
}
