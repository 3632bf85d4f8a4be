import Archive
import BusClient
import BusProtocol
import Primitives
import ServiceRuntime

/// What a replay did, and how it ends.
struct ReplaySummary {
  private let report: Replay.Report
  private let state: ReplayState
  /// Of a dry run.
  var names: NameCounts?
  var isResumed = false
  var durability = ""
  var seconds = 0.0

  init(_ report: Replay.Report, _ state: ReplayState) {
    self.report = report
    self.state = state
  }

  private var refused: UInt64 { report.refused + report.refusedByBus }

  func code(_ interrupted: ExitCode?) -> ExitCode {
    if let interrupted { return interrupted }
    if report.failure == .fenced { return .fenced }
    if !report.wasReached { return report.published == 0 ? .busUnreachable : .eventsUnaccounted }
    if report.unacknowledged > 0 || report.failure != nil { return .eventsUnaccounted }
    if report.query.damageCount > 0 { return .failed }
    return refused > 0 ? .someInputRefused : .done
  }

  func show(_ settings: ArchiveReplaySettings) {
    let damages = ArchiveDamageText.lines(
      report.query.damages, of: report.query.damageCount, settings.directory)
    for line in damages {
      Terminal.error("eventbus archive replay: \(line)")
    }
    PathWatch.tell(report.query, settings.filter.clauses)
    if !report.wasReached {
      let failure = CommandFailure.unreachable(settings.bus, within: settings.timeout)
      Terminal.error("eventbus archive replay: \(failure.text)")
    }
    if settings.json { return Terminal.output("\(json)\n") }
    if let names {
      if !names.counts.isEmpty { Terminal.output(names.table.text) }
      let sent = state.acknowledged.counted("event was", "events were")
      let before =
        state.acknowledged > 0 ? "; \(sent) sent before: --again sends them once more" : ""
      Terminal.error("\(report.published.counted("event")) would be sent" + rest + before)
    } else if report.published == 0, state.isComplete, isResumed {
      Terminal.error(
        "nothing is left: \(state.acknowledged.counted("event was", "events were")) sent before; "
          + "--again sends them once more")
    } else {
      var text = "\(report.acknowledged.counted("event")) acknowledged (\(durability))"
      if isResumed { text += ", \(state.acknowledged) with those of earlier runs" }
      if report.unacknowledged > 0 { text += ", \(report.unacknowledged) NOT acknowledged" }
      text += rest
      if !report.isComplete { text += "; the same command goes on where this one stopped" }
      Terminal.error(text)
    }
  }

  private var rest: String {
    var text = ""
    if report.forgotten > 0 {
      text += "; \(report.forgotten) left out, of people who are forgotten"
    }
    if refused > 0 { text += "; \(refused) refused" }
    if report.query.damageCount > 0 {
      text += "; \(report.query.damageCount.counted("damaged place"))"
    }
    if let failure = report.failure { text += "; stopped: \(failure)" }
    return text
  }

  private var json: JSONText {
    func number(_ key: String, _ value: UInt64) -> JSONText.Member {
      .init(key, .integer(Int64(clamping: value)))
    }
    var members = [
      number("published", report.published), number("acknowledged", report.acknowledged),
      number("refused", refused), number("unacknowledged", report.unacknowledged),
      number("forgotten", report.forgotten),
      number("damaged", UInt64(report.query.damageCount)), .init("seconds", .double(seconds)),
    ]
    if let names {
      members += [.init("dryRun", .boolean(true)), .init("names", names.json)]
    } else {
      members += [
        .init("resumed", .boolean(isResumed)), .init("complete", .boolean(report.isComplete)),
        number("acknowledgedInAll", state.acknowledged), .init("next", .text(next)),
        .init("durability", .text(durability)),
      ]
    }
    return .object(members)
  }

  private var next: String { "\(state.next.epoch):\(state.next.offset)" }
}
