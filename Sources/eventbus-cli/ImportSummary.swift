import BusClient
import Primitives
import ServiceRuntime

/// What an import did, over all files.
struct ImportSummary {
  var outcome = PublishOutcome()
  var files = 0
  var passedOver = 0
  /// Files that are broken or cut off; what came before that was taken.
  var damaged = 0
  /// Files of which the broker had something already.
  var resumed = 0
  /// Events of people who asked to be forgotten, from before that.
  var forgotten: UInt64 = 0
  private let names = NameCounts()

  mutating func add(
    _ part: PublishOutcome, names counts: NameCounts, isDamaged: Bool, wasSent: Bool
  ) {
    files += 1
    damaged += isDamaged ? 1 : 0
    resumed += wasSent ? 1 : 0
    outcome.read += part.read
    outcome.published += part.published
    outcome.acknowledged += part.acknowledged
    outcome.refusedHere += part.refusedHere
    outcome.refusedThere += part.refusedThere
    outcome.unacknowledged += part.unacknowledged
    outcome.failure = outcome.failure ?? part.failure
    if !part.durability.isEmpty { outcome.durability = part.durability }
    names.add(counts)
  }

  func code(_ interrupted: ExitCode?) -> ExitCode {
    let code = outcome.code(interrupted)
    return code == .done && damaged > 0 ? .failed : code
  }

  func report(_ settings: ArchiveImportSettings) {
    if settings.json { return Terminal.output("\(json(isDryRun: settings.isDryRun))\n") }
    if settings.isDryRun {
      if !names.counts.isEmpty { Terminal.output(names.table.text) }
      Terminal.error(
        "\(outcome.published.counted("event")) in \(filesText); nothing was sent" + rest)
    } else if !outcome.wasReached {
      let failure = CommandFailure.unreachable(settings.bus, within: settings.timeout)
      Terminal.error("eventbus archive import: \(failure.text)")
    } else {
      var text =
        "\(outcome.acknowledged.counted("event")) of \(filesText) acknowledged, on the bus's disk"
      if resumed > 0 { text += ", of \(resumed.counted("file")) some or all of them from before" }
      if outcome.unacknowledged > 0 { text += ", \(outcome.unacknowledged) NOT acknowledged" }
      Terminal.error(text + rest)
    }
  }

  private var filesText: String { files.counted("file") }

  private var rest: String {
    var text = ""
    if forgotten > 0 { text += "; \(forgotten) left out, of people who are forgotten" }
    if outcome.refused > 0 { text += "; \(outcome.refused.counted("line")) refused" }
    if damaged > 0 { text += "; \(damaged.counted("file")) damaged" }
    if passedOver > 0 { text += "; \(passedOver.counted("file")) passed over for their names" }
    if let failure = outcome.failure { text += "; stopped: \(failure)" }
    return text
  }

  private func json(isDryRun: Bool) -> JSONText {
    var members: [JSONText.Member] = [
      .init("files", .integer(Int64(files))), .init("passedOver", .integer(Int64(passedOver))),
      .init("damaged", .integer(Int64(damaged))), .init("resumed", .integer(Int64(resumed))),
      .init("forgotten", .integer(Int64(clamping: forgotten))),
    ]
    members += outcome.members
    if isDryRun { members.append(.init("names", names.json)) }
    return .object(members)
  }
}
