import Archive
import Primitives
import ServiceRuntime

/// `eventbus archive replay`: archived events once more, to those who want them.
enum ArchiveReplayCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "archive replay", group: "Archive",
      summary: "Sends archived events to named subscribers; repeated, it goes on where it stopped.",
      options: [
        .option("dir", "DIR", help: "The archive."),
        .option(
          "to", "NAME[,NAME]",
          help: "Who gets the events: named subscribers, as a destination's. Nobody else sees them."
        ),
        .repeated("event", "PATTERN", help: "Names: * is any run of characters. None: all."),
        .repeated("exact", "NAME", help: "A name in which nothing is special."),
        .option("from", "TIME", help: "Events of this time and later: a time, or an age as 7d."),
        .option("until", "TIME", help: "Events before this time."),
        .option(
          "user", "ID", help: "Events of this person: by userId, anonymousId or previousId."),
        .repeated(
          "where", "PATH=VALUE",
          help: "Only events that match, as properties.plan=pro; also != < <= > >= ~."),
        .option("rate", "R", help: "Events a second, as 5000 or 50k; default as fast as it goes."),
        .flag(
          "dry-run",
          help: "Only count, by name, what is left to send; with --again all of it. Without a bus: "
            + "with --any-name."),
        .flag(
          "again", help: "Begin anew: send once more what the same command has sent already."),
        .flag("any-name", help: "Also to names that the bus does not know yet."),
        .option(
          "state", "DIR",
          help: "Where it is kept how far the replay is. Default: replays below --dir."),
        .option(
          "timeout", "TIME", help: "How long to wait for the bus, and at the end for it.",
          default: "30s"),
        .flag("json", help: "One line of JSON on stdout at the end."),
      ],
      examples: [
        CommandExample(
          "eventbus archive replay --dir ./archive --to segment --event 'Game *' --from 7d",
          "A week of some names to one destination."),
        CommandExample(
          "eventbus archive replay --dir ./archive --to webhook --user u42 --dry-run",
          "What would be sent."),
      ]),
    run: { context in
      try ArchiveReplay(try ArchiveReplaySettings(context.arguments), context).run()
    })
}

/// The command line of `archive replay`, read and checked.
struct ArchiveReplaySettings {
  var directory: String
  var bus: String
  var filter: ArchiveFilter
  var definition: ReplayDefinition
  var rate: Double?
  var isDryRun: Bool
  var again: Bool
  var takesAnyName: Bool
  var stateFolder: String
  var timeout: Duration
  var json: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    directory = try arguments.requiredText("dir")
    bus = try arguments.requiredText("bus")
    filter = try ArchiveQuerySettings.filter(arguments, end: "until")
    // As it was written: an age is another time in each run, and the replay is the same one.
    var conditions: [String] = []
    for option in ["event", "exact", "from", "until", "user", "where"] {
      conditions += arguments.texts(option).map { "\(option)=\($0)" }
    }
    definition = ReplayDefinition(
      subscribers: try SubscriberNames.read(try arguments.requiredText("to")),
      conditions: conditions)
    rate = try arguments.optional("rate", as: Rate.self)?.perSecond
    isDryRun = arguments.flag("dry-run")
    again = arguments.flag("again")
    takesAnyName = arguments.flag("any-name")
    stateFolder = arguments.text("state") ?? "\(directory)/replays"
    timeout = try arguments.value("timeout", as: Duration.self)
    json = arguments.flag("json")
  }
}
