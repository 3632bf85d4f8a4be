import BusClient
import BusProtocol
import EventCodec
import Primitives
import ServiceRuntime

/// `eventbus tail`: follows events by name.
enum TailCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "tail", group: "Events",
      summary: "Follows events by name, new ones or from any point on.",
      positionals: [
        PositionalDefinition(
          "PATTERN", help: "Names: * is any run of characters, \\* a star. None: all.", count: .many
        )
      ],
      options: [
        .repeated("exact", "NAME", help: "A name in which nothing is special."),
        .option(
          "since", "WHERE", help: "earliest, latest, an offset, a time, or an age as 10m.",
          default: "latest"),
        .flag("until-end", help: "Stop at what was the end when it began."),
        .option("count", "N", help: "Stop after N events."),
        .repeated(
          "where", "PATH=VALUE",
          help: "Only events that match, as properties.plan=pro; also != < <= > >= ~."),
        .option(
          "format", "FORMAT", help: "pretty, ndjson, csv or template.",
          default: "pretty", choices: ["pretty", "ndjson", "csv", "template"]),
        .option("template", "TEXT", help: "Text with {field}s, as '{event} {properties.plan}'."),
        .option(
          "name", "CURSOR", help: "Keep the place under this name, and go on there next time."),
        .flag("reset", help: "With --name: take other patterns than those known under it."),
        .option(
          "on-gap", "POLICY", help: "What to do when events are gone: continue or stop.",
          default: "continue", choices: ["continue", "stop"]),
        .flag("live", help: "From the live feed: only new events, and some may be missed."),
        .flag("ready", help: "Say `ready` on stderr once nothing more can be missed."),
        .option("timeout", "TIME", help: "How long to wait for the bus.", default: "5s"),
      ],
      exclusive: [["live", "name"], ["live", "until-end"], ["live", "since"]],
      examples: [
        CommandExample("eventbus tail 'Game *'", "New events whose names begin with \"Game \"."),
        CommandExample(
          "eventbus tail --since earliest --until-end --format ndjson > all.ndjson",
          "Everything there is, as a file."),
      ]),
    run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let settings = try TailSettings(context.arguments)
    if settings.isLive {
      var tail = try TailLive(settings, context)
      return try tail.run()
    }
    var tail = TailRun(settings, context)
    return try tail.run()
  }
}

/// The command line of `tail`, read and checked.
struct TailSettings {
  var address: String
  var filters: [NameFilter]
  var start: StartPosition
  var untilEnd: Bool
  var count: Int?
  var clauses: [WhereClause]
  var format: String
  var template: TailTemplate?
  var name: String
  var resetsFilters: Bool
  var stopsAtGap: Bool
  var isLive: Bool
  var saysReady: Bool
  var timeout: Duration

  init(_ arguments: Arguments) throws(UsageError) {
    address = try arguments.requiredText("bus")
    filters = try arguments.nameFilters(ofPositionals: "PATTERN")
    name = arguments.text("name") ?? ""
    resetsFilters = arguments.flag("reset")
    let since = try StartText.position(try arguments.requiredText("since"), naming: "--since")
    start = name.isEmpty ? since : .cursor(otherwise: since)
    untilEnd = arguments.flag("until-end")
    count = try arguments.optional("count", in: 0...Int.max)
    clauses = []
    for text in arguments.texts("where") {
      do throws(WhereClause.SyntaxError) {
        clauses.append(try WhereClause(text))
      } catch {
        throw UsageError("--where: \(error)")
      }
    }
    format = try arguments.requiredText("format")
    template = try arguments.text("template").map { text throws(UsageError) in
      try TailTemplate(text)
    }
    stopsAtGap = arguments.text("on-gap") == "stop"
    isLive = arguments.flag("live")
    saysReady = arguments.flag("ready")
    if name.isEmpty, arguments.isTyped("reset") {
      throw UsageError("--reset is for the filters of a --name: give one")
    }
    timeout = try arguments.value("timeout", as: Duration.self)
    if template != nil, !arguments.isGiven("format") { format = "template" }
    if format == "template", template == nil {
      throw UsageError("--format template needs --template TEXT")
    }
    if template != nil, format != "template" {
      throw UsageError("--template and --format \(format) contradict each other")
    }
  }
}
