import EventModel
import Primitives
import ServiceRuntime
import TrackingPlan

/// `eventbus plan try`: what a plan would have made of events that were recorded.
enum PlanTryCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "plan try", group: "Tracking plan",
      summary: "Tries a plan over recorded paths: which events they become, and what changes.",
      positionals: [PlanInput.positional, PlanEventSource.positional],
      options: PlanEventSource.options + [.json],
      examples: [
        CommandExample("eventbus plan try plan.json --since 7d", "Over a week on the bus."),
        CommandExample(
          "eventbus plan try plan.json events.ndjson", "Over a file. Changes nothing."),
      ]),
    run: run)

  /// One name before and after, and how often.
  private struct Row: Hashable {
    var before: EventType
    var after: String
  }

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    // First: it is what finds that stdin is given twice.
    let source = try PlanEventSource(context, positional: 1)
    let plan = try PlanInput.read(context.arguments.positionals[0], context)
    let rules = CollectionRules(plan.collection)
    var rows: [Row: Int] = [:]
    var withoutPath = 0
    let outcome = try source.forEach { event, _ in
      guard let path = RawPaths.recordedPath(of: event) else {
        withoutPath += 1
        return
      }
      let isRaw = RawPaths.path(of: event) != nil
      let before = isRaw ? RawPaths.eventName : EventType(event.event ?? "")
      rows[Row(before: before, after: name(rules, path)), default: 0] += 1
    }
    if let code = context.interruption.code { return code }
    let sorted = rows.sorted { ($1.value, $0.key.after) < ($0.value, $1.key.after) }
    if context.arguments.flag("json") {
      let list = sorted.map { row, count in
        JSONText.object([
          .init("recorded", .text(row.before.rawValue)), .init("becomes", .text(row.after)),
          .init("count", PlanText.integer(count)),
        ])
      }
      Terminal.output(
        JSONText.object([
          .init("rows", .list(list)), .init("withoutPath", PlanText.integer(withoutPath)),
        ]).description + "\n")
    } else {
      var table = Table([.init("recorded as"), .init("becomes"), .init("count", .right)])
      for (row, count) in sorted { table.append([row.before.rawValue, row.after, "\(count)"]) }
      if !table.isEmpty { Terminal.output(table.text) }
      Terminal.error(withoutPath.counted("event has", "events have") + " no path")
    }
    return outcome.code
  }

  private static func name(_ rules: CollectionRules, _ path: EventPath) -> String {
    switch rules.decide(path, texts: []) {
    case .event(let entry, _): entry.event.rawValue
    case .unmapped: "(unmapped)"
    case .excluded: "(excluded)"
    }
  }
}
