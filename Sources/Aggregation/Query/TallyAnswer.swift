/// What the tallies of funnels, retention and sessions say.
enum TallyAnswer {
  /// - Parameter eligible: for retention, by period, the users for whom it has begun.
  static func members(
    _ cell: Cell, _ content: ReportDefinition.Content, eligible: [Int64]
  ) -> [(key: String, value: AnswerValue)] {
    switch content {
    case .measures: []
    case .funnel(let steps, _): funnel(cell.tallies, steps)
    case .retention: retention(cell.tallies, eligible)
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

  /// Who cannot have been back yet lowers no rate.
  private static func retention(
    _ tallies: [Int64], _ eligible: [Int64]
  ) -> [(key: String, value: AnswerValue)] {
    let rates = zip(tallies, eligible).map { back, users in
      users > 0 ? AnswerValue.double(Double(back) / Double(users)) : AnswerValue.null
    }
    func list(_ users: [Int64]) -> AnswerValue { .list(users.map { .whole(Int128($0)) }) }
    return [
      ("users", .whole(Int128(tallies.first ?? 0))), ("back", list(tallies)),
      ("eligible", list(eligible)), ("rates", .list(rates)),
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
