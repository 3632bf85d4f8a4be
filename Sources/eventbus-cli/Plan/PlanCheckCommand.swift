import EventModel
import Primitives
import ServiceRuntime
import TrackingPlan

/// `eventbus plan check`: events against a plan.
enum PlanCheckCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "plan check", group: "Tracking plan",
      summary: "Holds events against a plan; exit 3 when some are not as planned.",
      positionals: [PlanInput.positional, PlanEventSource.positional],
      options: PlanEventSource.options + [
        .flag("json", help: "One line of JSON on stdout at the end instead of the table.")
      ],
      examples: [
        CommandExample("eventbus plan check plan.json events.ndjson", "A file, as in CI."),
        CommandExample("eventbus plan check plan.json --since 1d", "The last day on the bus."),
      ]),
    run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let path = context.arguments.positionals[0]
    let source = try PlanEventSource(context, positional: 1)
    var check = PlanCheck(try PlanInput.read(path, context))
    let outcome = try source.forEach { event, place in
      // `plan paths` tells of places that nobody has named.
      guard RawPaths.path(of: event) == nil else { return }
      check.take(EventType(event.event ?? ""), event.properties, at: place)
    }
    if let code = context.interruption.code { return code }
    let findings = check.findings.sorted { $0.count > $1.count }
    if context.arguments.flag("json") {
      Terminal.output(json(check, findings, outcome) + "\n")
    } else {
      var table = Table([
        .init("event"), .init("property"), .init("problem"), .init("count", .right),
        .init("first \(source.placeName)", .right),
      ])
      for finding in findings {
        table.append([
          finding.problem.event.rawValue, finding.problem.property, finding.problem.text,
          "\(finding.count)", "\(finding.first)",
        ])
      }
      if !table.isEmpty { Terminal.output(table.text) }
      Terminal.error("\(check.checked.counted("event")) checked, \(check.wrong) not as planned")
    }
    return check.wrong > 0 ? .someInputRefused : outcome.code
  }

  private static func json(
    _ check: PlanCheck, _ findings: [PlanCheck.Finding], _ outcome: PlanEventSource.Outcome
  ) -> String {
    let problems = findings.map { finding in
      JSONText.object([
        .init("event", .text(finding.problem.event.rawValue)),
        .init("property", .text(finding.problem.property)),
        .init("problem", .text(finding.problem.text)),
        .init("count", PlanText.integer(finding.count)),
        .init("first", PlanText.integer(finding.first)),
      ])
    }
    return JSONText.object([
      .init("checked", PlanText.integer(check.checked)),
      .init("wrong", PlanText.integer(check.wrong)),
      .init("refused", PlanText.integer(outcome.refused)), .init("problems", .list(problems)),
    ]).description
  }
}
