import Inspection
import Primitives
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `eventbus doctor`.
enum DoctorCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "doctor", group: "Administration",
      summary: "Checks bus, disk, journal, archive and every ledger, and says what to do. "
        + "Exit 1 if a check fails, 4 if one event is unaccounted for.",
      options: [
        .option(
          "data", "DIR", help: "Where the services keep their state.", default: "./eventbus-data"),
        .option("dir", "DIR", help: "The archive. Default: archive below --data."),
        .option(
          "port-base", "N", help: "Port of the bus, from which the services' ports follow.",
          default: "7400"),
        .option(
          "maximum-lag", "N", help: "Events that a connected subscriber may be behind.",
          default: "1000000"),
        .flag("full", help: "Read all of the journal, however large; else up to 2 GiB are."),
        .option("timeout", "TIME", help: "How long to wait for the bus.", default: "5s"),
        .json,
      ],
      examples: [
        CommandExample("eventbus doctor", "Of what runs here."),
        CommandExample(
          "eventbus doctor --json --data /var/lib/eventbus", "For a script or an alert."),
      ]),
    run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    // It only looks, so that it may end anywhere.
    context.interruption.onRequest { exit($0.rawValue) }
    try CommandFailure.checkTyped(["data"], context.arguments)
    let facts = try DoctorLook(context).facts()
    let checks = Doctor.checks(facts)
    Terminal.output(
      context.arguments.flag("json") ? "\(json(checks))\n" : text(checks))
    switch Doctor.verdict(checks) {
    case .healthy: return .done
    case .failing: return .failed
    case .unaccounted: return .eventsUnaccounted
    }
  }

  private static func text(_ checks: [DoctorCheck]) -> String {
    var text = ""
    let width = checks.map(\.name.count).max() ?? 0
    for check in checks {
      let mark =
        switch check.outcome {
        case .ok: "ok   "
        case .note: "note "
        case .failed: "FAIL "
        case .unaccounted: "LOST "
        case .skipped: "-    "
        }
      let name = TerminalText.escape(check.name)
      let padding = String(repeating: " ", count: max(0, width - name.count) + 2)
      text += mark + name + padding + TerminalText.escape(check.finding) + "\n"
      // What is in order needs no advice.
      if !check.advice.isEmpty, check.outcome != .ok {
        text +=
          String(repeating: " ", count: width + 7) + "-> "
          + TerminalText.escape(check.advice) + "\n"
      }
    }
    let failed = checks.count { $0.outcome == .failed }
    let lost = checks.count { $0.outcome == .unaccounted }
    let ok = checks.count { $0.outcome == .ok }
    return text + "\(ok.counted("check")) passed, \(failed) failed, "
      + (lost == 0
        ? "every event is accounted for where it could be looked at\n"
        : "\(lost) found events LOST or unaccounted for\n")
  }

  private static func json(_ checks: [DoctorCheck]) -> JSONText {
    let verdict =
      switch Doctor.verdict(checks) {
      case .healthy: "healthy"
      case .failing: "failing"
      case .unaccounted: "unaccounted"
      }
    return .object([
      .init("verdict", .text(verdict)),
      .init(
        "checks",
        .list(
          checks.map {
            .object([
              .init("name", .text($0.name)), .init("outcome", .text($0.outcome.rawValue)),
              .init("finding", .text($0.finding)), .init("advice", .text($0.advice)),
            ])
          })),
    ])
  }
}
