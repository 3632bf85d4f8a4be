import EventModel
import Primitives
import ServiceRuntime
import TrackingPlan

/// `eventbus plan ...`: which events there are, what they hold, and which places of an app report them.
enum PlanCommands {
  static let entries: [Commands.Entry] = [
    PlanInferCommand.entry, PlanCheckCommand.entry, diff, export, validate,
    PlanPublishCommand.entry, show, PlanPathsCommand.entry, PlanTryCommand.entry,
  ]

  private static let diff = Commands.Entry(
    definition: CommandDefinition(
      name: "plan diff", group: "Tracking plan",
      summary: "Compares two plans; exit 1 when a change breaks producers or readers.",
      positionals: [
        PositionalDefinition("OLD", help: "The plan as it was."),
        PositionalDefinition("NEW", help: "The plan as it will be."),
      ],
      options: [.json],
      examples: [
        CommandExample("eventbus plan diff old.json new.json", "What changes, and whom it breaks."),
        CommandExample(
          "git show HEAD:plan.json | eventbus plan diff - plan.json", "Before a commit."),
      ]),
    run: { context in
      let paths = context.arguments.positionals
      guard paths != ["-", "-"] else { throw UsageError("only one of OLD and NEW can be stdin") }
      let difference = PlanDifference(
        from: try PlanInput.read(paths[0], context), to: try PlanInput.read(paths[1], context))
      PlanText.show(difference, context)
      return difference.isBreaking ? .failed : .done
    })

  private static let export = Commands.Entry(
    definition: CommandDefinition(
      name: "plan export", group: "Tracking plan",
      summary: "Writes the plan's event types as Swift structs, or the plan as tidy JSON.",
      positionals: [PlanInput.positional],
      options: [
        .option(
          "format", "FORMAT", help: "swift or json.", default: "swift",
          choices: ["swift", "json"]),
        .option(
          "import", "MODULE",
          help: "What the Swift imports: Analytics in an app, EventBus on the bus.",
          default: "Analytics"),
      ],
      examples: [
        CommandExample(
          "eventbus plan export plan.json > PlannedEvents.swift", "Typed events for an app."),
        CommandExample("eventbus plan export plan.json --format json", "The plan, tidied."),
      ]),
    run: { context in
      let plan = try PlanInput.read(context.arguments.positionals[0], context)
      if context.arguments.text("format") == "json" {
        Terminal.output(String(decoding: plan.json, as: UTF8.self))
      } else {
        let module = try context.arguments.requiredText("import")
        Terminal.output(SwiftExport(module: module).source(plan))
      }
      return .done
    })

  private static let validate = Commands.Entry(
    definition: CommandDefinition(
      name: "plan validate", group: "Tracking plan",
      summary:
        "Says what is wrong in a plan, with line and nearest right word; exit 1 if anything.",
      positionals: [PlanInput.positional],
      examples: [
        CommandExample("eventbus plan validate plan.json", "In a repository's checks."),
        CommandExample("eventbus plan validate - < plan.json", "The same from stdin."),
      ]),
    run: { context in
      let path = context.arguments.positionals[0]
      let plan = try PlanInput.read(path, context)
      Terminal.output("\(path): version \(plan.version), \(PlanText.summary(plan))\n")
      return .done
    })

  private static let show = Commands.Entry(
    definition: CommandDefinition(
      name: "plan show", group: "Tracking plan",
      summary: "Prints the collection plan in force on the bus, as apps get it.",
      options: [
        .option("timeout", "TIME", help: "How long to wait for the bus.", default: "5s")
      ],
      examples: [
        CommandExample("eventbus plan show", "The plan with the highest version."),
        CommandExample("eventbus plan show | eventbus plan diff - plan.json", "What would change."),
      ]),
    run: { context in
      guard let plan = try PlanInput.published(context) else {
        throw CommandFailure(
          .failed, "the bus has no plan; `eventbus plan publish FILE` gives it one")
      }
      Terminal.output(String(decoding: plan.document.json, as: UTF8.self))
      return .done
    })
}

/// What `plan` commands print.
enum PlanText {
  static func summary(_ plan: PlanDocument) -> String {
    "\(plan.events.count) event types, \(collection(plan))"
  }

  /// The part of a plan that travels.
  static func collection(_ plan: PlanDocument) -> String {
    let patterns = plan.collection.entries.reduce(0) { $0 + $1.patterns.count }
    return
      "\(patterns.counted("path")) of \(Set(plan.collection.entries.map(\.event)).count.counted("event"))"
  }

  static func show(_ difference: PlanDifference, _ context: Commands.Context) {
    guard context.arguments.flag("json") else {
      let lines = difference.changes.map { TerminalText.escape($0.description) + "\n" }
      return Terminal.output(lines.isEmpty ? "nothing changes\n" : lines.joined())
    }
    let changes = difference.changes.map { change in
      JSONText.object([
        .init("event", .text(change.event.rawValue)), .init("property", .text(change.property)),
        .init("change", .text(change.text)), .init("breaks", .text(change.breaks.rawValue)),
      ])
    }
    Terminal.output(
      JSONText.object([
        .init("breaking", .boolean(difference.isBreaking)), .init("changes", .list(changes)),
      ]).description + "\n")
  }

  static func integer(_ value: some BinaryInteger) -> JSONText {
    .integer(Int64(clamping: value))
  }
}
