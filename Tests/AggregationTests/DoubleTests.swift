import SinkState
import Testing

@testable import Aggregation

@Suite struct DoubleTests {
  private static let reports = #"{"name": "names", "by": ["event"], "window": "all"}"#
  private static let time = "2024-05-01T12:00:00.000Z"

  @Test func `an event counts once by name and messageId, and one without an id always`() throws {
    let trial = try Trial(Self.reports)
    func bought(_ id: String?, _ amount: Int) -> String {
      Line.track("Bought", "u1", Self.time, id: id, "{\"amount\":\(amount)}")
    }
    try trial.feed([
      bought("A10-000", 5), bought("A10-000", 5), bought("A10-000", 5), bought("A10-001", 5),
      bought("A10-000", 7), Line.track("Sold", "u2", Self.time, id: "A10-000"), bought(nil, 2),
      bought(nil, 3), bought("", 4), bought("", 5),
    ])
    let groups = try trial.answer()["groups"]
    #expect(groups.group("\"Bought\"")["count"].number == 6)
    #expect(groups.group("\"Sold\"")["count"].number == 1)
    #expect(trial.core.progress.ledger.duplicate == 3)
    #expect(trial.core.doubles.conflictCount == 1)
    #expect(trial.core.progress.ledger.isBalanced(at: trial.core.progress.cursor))
  }

  @Test func `everything sent twice, reversed and again after a restart counts once`() throws {
    let trial = try Trial(
      Self.reports + #", {"name": "users", "measures": [{"unique": "user"}], "window": "hour"}"#)
    let lines = (0..<5000).map { number in
      Line.track(
        "Kind \(number * 7 % 20)", "u\(number * 13 % 500)",
        "2024-05-01T12:00:00.\(100 + number % 900)Z",
        id: "LOAD-\(number)")
    }
    var sent: [String] = []
    for block in stride(from: 0, to: lines.count, by: 100) {
      for (index, line) in lines[block..<block + 100].reversed().enumerated() {
        sent.append(line)
        if index % 7 == 0 { sent.append(line) }
      }
    }
    for part in stride(from: 0, to: sent.count, by: 1000) {
      try trial.feed(sent[part..<min(part + 1000, sent.count)])
      try trial.commit(keepingBytes: 0)
      // What follows is not committed, and comes again.
      try trial.feed(sent[part..<min(part + 500, sent.count)])
      try trial.restart()
    }
    try trial.feed(sent)
    let answer = try trial.answer()
    #expect(answer["total"]["count"].number == 5000)
    #expect(answer["groups"].list.count == 20)
    #expect(answer["groups"].list.allSatisfy { $0["count"].number == 250 })
    #expect(try trial.answer("users")["total"]["unique user"]["value"].number == 500)
  }
}
