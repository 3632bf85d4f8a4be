/// What the tallies of funnels, retention and sessions say.
enum TallyAnswer {
  static func members(
    _ cell: Cell, _ content: ReportDefinition.Content
  ) -> [(key: String, value: AnswerValue)] {
    switch content {
    case .measures: []
    case .funnel(let steps, _): funnel(cell.tallies, steps)
    case .retention: retention(cell.tallies)
    case .sessions: sessions(cell.tallies)
    }
  }

  private static func funnel(
    _ tallies: [Int64], _ steps: [ReportDefinition.Step]
  ) -> [(key: String, value: AnswerValue)] {
    let first = tallies.first ?? 0
    let list = zip(steps, tallies).map { step, users in
      AnswerValue.object([
        ("step", .text(step.event)), ("users", .whole(Int128(users))),
        ("rate", first > 0 ? .double(Double(users) / Double(first)) : .null),
      ])
    }
    return [("steps", .list(list))]
  }

  private static func retention(_ tallies: [Int64]) -> [(key: String, value: AnswerValue)] {
    let users = tallies.first ?? 0
    let back = tallies.map { AnswerValue.whole(Int128($0)) }
    let rates = tallies.map {
      users > 0 ? AnswerValue.double(Double($0) / Double(users)) : AnswerValue.null
    }
    return [
      ("users", .whole(Int128(users))), ("back", .list(back)), ("rates", .list(rates)),
    ]
  }

  private static func sessions(_ tallies: [Int64]) -> [(key: String, value: AnswerValue)] {
    let sessions = tallies[SessionTally.sessions]
    let events = tallies[SessionTally.events]
    let milliseconds = tallies[SessionTally.length]
    func each(_ sum: Double) -> AnswerValue {
      sessions > 0 ? .double(sum / Double(sessions)) : .null
    }
    let lengths = zip(SessionTally.labels, tallies[SessionTally.firstBucket...]).map {
      (key: $0, value: AnswerValue.whole(Int128($1)))
    }
    return [
      ("sessions", .whole(Int128(sessions))), ("events", .whole(Int128(events))),
      ("eventsPerSession", each(Double(events))),
      ("secondsPerSession", each(Double(milliseconds) / 1000)), ("lengths", .object(lengths)),
    ]
  }
}
