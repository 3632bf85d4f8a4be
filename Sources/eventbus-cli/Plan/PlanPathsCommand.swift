import EventModel
import Primitives
import ServiceRuntime
import TrackingPlan

/// `eventbus plan paths`: where something happens that no event stands for yet.
enum PlanPathsCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "plan paths", group: "Tracking plan",
      summary: "Lists paths that the plan does not map, with counts, for somebody to map them.",
      positionals: [PlanEventSource.positional],
      options: PlanEventSource.options + [
        .option("plan", "PLAN", help: "A plan's file instead of the plan in force on the bus."),
        .option("limit", "N", help: "How many paths to list.", default: "50"),
        .json,
      ],
      examples: [
        CommandExample("eventbus plan paths --since 1d", "A day, under the plan in force."),
        CommandExample(
          "eventbus plan paths --plan plan.json events.ndjson", "A file's, under a draft."),
      ]),
    run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let limit = try context.arguments.value("limit", in: 1...UnmappedPathsLimit.listed)
    let source = try PlanEventSource(context, positional: 0)
    let rules = CollectionRules(try plan(context))
    var unmapped = UnmappedPaths(maximum: UnmappedPathsLimit.counted)
    let outcome = try source.forEach { event, _ in
      guard let path = RawPaths.path(of: event), case .unmapped = rules.decide(path) else { return }
      unmapped.add(path)
    }
    if let code = context.interruption.code { return code }
    if context.arguments.flag("json") {
      Terminal.output(json(unmapped, limit) + "\n")
    } else {
      // A path that is cut could not be copied into a plan, so it is no table.
      for count in unmapped.most(limit) {
        Terminal.output("\(count.count)\t\(TerminalText.escape(count.path))\n")
      }
      Terminal.error(
        "\(unmapped.total.counted("event")) at \(unmapped.distinct.counted("unmapped path"))"
          + (unmapped.others > 0 ? ", and \(unmapped.others.counted("event")) at more of them" : "")
      )
    }
    return outcome.code
  }

  private static func plan(_ context: Commands.Context) throws -> CollectionPlan {
    if let path = context.arguments.text("plan") {
      return try PlanInput.read(path, context).collection
    }
    return try PlanInput.published(context)?.document.collection ?? CollectionPlan()
  }

  private static func json(_ unmapped: UnmappedPaths, _ limit: Int) -> String {
    let paths = unmapped.most(limit).map { count in
      JSONText.object([
        .init("path", .text(count.path)), .init("count", PlanText.integer(count.count)),
      ])
    }
    return JSONText.object([
      .init("events", PlanText.integer(unmapped.total)),
      .init("distinct", PlanText.integer(unmapped.distinct)),
      .init("others", PlanText.integer(unmapped.others)), .init("paths", .list(paths)),
    ]).description
  }
}

/// Bounds of `plan paths`.
enum UnmappedPathsLimit {
  /// Different paths that are counted apart: about 50 MB.
  static let counted = 100_000
  static let listed = 100_000
}
