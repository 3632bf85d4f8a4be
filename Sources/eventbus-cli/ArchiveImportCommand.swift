import Archive
import BusClient
import Primitives
import ServiceRuntime

/// `eventbus archive import`: history from files, through the bus, into the archive.
enum ArchiveImportCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "archive import", group: "Archive",
      summary: "Sends history from files to the archiver, each event once however often it is run.",
      positionals: [
        PositionalDefinition(
          "FILE",
          help: "NDJSON, gzip or not, or a folder of it: .gz, .ndjson, .jsonl, .json, as Segment "
            + "writes to S3.", count: .many)
      ],
      options: [
        .option("dir", "DIR", help: "The archive."),
        .option(
          "to", "NAME[,NAME]",
          help: "Who gets the events. Through the bus they have order and offsets like all others; "
            + "only the archiver sees them, so that nobody counts history twice. "
            + "archiver,aggregator counts it too.", default: "archiver"),
        .flag("any-name", help: "Also names that the bus does not know yet."),
        .option("refused", "FILE", help: "Keep refused lines in FILE; - is stdout."),
        .flag("stop-on-error", help: "Stop at the first refused line."),
        .flag(
          "dry-run", help: "Only read and count, by name. Without a bus: with --any-name."),
        .option(
          "timeout", "TIME", help: "How long to wait for the bus, and at the end for it.",
          default: "30s"),
        .flag("json", help: "One line of JSON on stdout at the end."),
      ],
      examples: [
        CommandExample("eventbus archive import segment-logs/ --dir ./archive", "A copy of S3."),
        CommandExample(
          "eventbus archive import history.ndjson.gz --dry-run --any-name", "What is in a file."),
      ]),
    run: { context in
      var run = ArchiveImport(try ArchiveImportSettings(context.arguments), context)
      return try run.run()
    })
}

/// The command line of `archive import`, read and checked.
struct ArchiveImportSettings {
  var paths: [String]
  var directory: String
  var bus: String
  var subscribers: [String]
  var takesAnyName: Bool
  var refusedFile: String?
  var stopsOnError: Bool
  var isDryRun: Bool
  var timeout: Duration
  var json: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    paths = arguments.positionals
    guard !paths.isEmpty else { throw UsageError("nothing to import: give FILE or a folder") }
    guard !paths.contains("-") else {
      throw UsageError("FILE: stdin cannot be imported, since each file is read twice: name a file")
    }
    directory = try arguments.requiredText("dir")
    bus = try arguments.requiredText("bus")
    subscribers = try SubscriberNames.read(try arguments.requiredText("to"))
    takesAnyName = arguments.flag("any-name")
    isDryRun = arguments.flag("dry-run")
    json = arguments.flag("json")
    refusedFile = try arguments.outputFile(
      "refused",
      besides: json ? "the line of --json" : isDryRun ? "the table of --dry-run" : nil)
    stopsOnError = arguments.flag("stop-on-error")
    timeout = try arguments.value("timeout", as: Duration.self)
  }
}
