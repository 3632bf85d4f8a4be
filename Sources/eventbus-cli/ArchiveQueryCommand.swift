import Archive
import EventCodec
import EventModel
import ServiceRuntime

/// `eventbus archive query`: finds and counts events in the archive's files.
enum ArchiveQueryCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "archive query", group: "Archive",
      summary: "Finds and counts archived events, also beside the archiver. Changes nothing.",
      options: [
        .option("dir", "DIR", help: "The archive."),
        .repeated(
          "event", "PATTERN",
          help:
            "Names: * is any run of characters, \\* a star. $identify and so on for events that "
            + "are no tracks. None: all."),
        .repeated("exact", "NAME", help: "A name in which nothing is special."),
        .option("from", "TIME", help: "Events of this time and later: a time, or an age as 7d."),
        .option("to", "TIME", help: "Events before this time."),
        .option(
          "user", "ID", help: "Events of this person: by userId, anonymousId or previousId."),
        .repeated(
          "where", "PATH=VALUE",
          help: "Only events that match, as properties.plan=pro; also != < <= > >= ~."),
        .option("select", "F,F", help: "Only these fields, as userId,properties.plan."),
        .flag("count", help: "Only how many."),
        .option("by", "F,F", help: "Counts by the values of these fields; event is the name."),
        .option("limit", "N", help: "At most N lines: the first events, the largest groups."),
        .option(
          "format", "FORMAT",
          help: "table, ndjson or csv. Default: table on a terminal, else ndjson.",
          choices: ["table", "ndjson", "csv"]),
        .flag("stats", help: "Say on stderr how many parts were opened and events read."),
        .flag("json", help: "The same as one line of JSON on stdout at the end."),
      ],
      exclusive: [["select", "count"], ["select", "by"]],
      examples: [
        CommandExample(
          "eventbus archive query --dir ./archive --event 'Game *' --from 7d --by event",
          "The names of a week, counted."),
        CommandExample(
          "eventbus archive query --dir ./archive --user u42 --format ndjson > u42.ndjson",
          "All about one person, in the order in which it arrived."),
      ]),
    run: { context in
      let settings = try ArchiveQuerySettings(context.arguments)
      return try ArchiveQueryRun(settings, context).run()
    })
}

/// The command line of `archive query`, read and checked.
struct ArchiveQuerySettings {
  enum Format: String { case table, ndjson, csv }

  /// A field as it was given, and what it means.
  struct Field {
    var text: String
    var field: QueryField
  }

  var directory: String
  var filter: ArchiveFilter
  var select: [Field]?
  /// Nil: events are wanted, not counts.
  var groupBy: [Field]?
  var limit: Int?
  /// Nil: as stdout is.
  var format: Format?
  var saysStats: Bool
  var json: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    directory = try arguments.requiredText("dir")
    filter = try Self.filter(arguments)
    limit = try arguments.optional("limit", in: 0...Int.max)
    format = arguments.text("format").flatMap(Format.init)
    saysStats = arguments.flag("stats")
    json = arguments.flag("json")
    select = try Self.fields(arguments, "select") { QueryField(path: $0) }
    groupBy = try Self.fields(arguments, "by") { QueryField(groupedBy: $0) }
    if arguments.flag("count"), groupBy == nil { groupBy = [] }
  }

  /// - Parameter end: the option that bounds the times above.
  static func filter(
    _ arguments: Arguments, end: String = "to"
  ) throws(UsageError) -> ArchiveFilter {
    var filter = ArchiveFilter()
    filter.patterns =
      try arguments.names("event").map { EventPattern($0) }
      + arguments.names("exact").map { EventPattern(exact: Array($0.utf8)) }
    filter.from = try time(arguments, "from")
    filter.to = try time(arguments, end)
    if let from = filter.from, let to = filter.to, from >= to {
      throw UsageError("--from and --\(end) leave no time between them")
    }
    filter.user = arguments.text("user")
    if filter.user == "" { throw UsageError("--user is empty: nobody has that id") }
    for text in arguments.texts("where") {
      do throws(WhereClause.SyntaxError) {
        filter.clauses.append(try WhereClause(text))
      } catch {
        throw UsageError("--where: \(error)")
      }
    }
    return filter
  }

  private static func time(_ arguments: Arguments, _ name: String) throws(UsageError) -> Int64? {
    guard let text = arguments.text(name) else { return nil }
    return try TimeText.nanoseconds(text, naming: "--\(name)")
  }

  private static func fields(
    _ arguments: Arguments, _ name: String, _ read: (String) -> QueryField?
  ) throws(UsageError) -> [Field]? {
    guard let list = arguments.text(name) else { return nil }
    var fields: [Field] = []
    for text in list.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
      guard let field = read(text) else {
        throw UsageError("--\(name): '\(text)' is no field: write them as userId,properties.plan")
      }
      guard !fields.contains(where: { $0.text == text }) else {
        throw UsageError("--\(name): '\(text)' is there twice")
      }
      fields.append(Field(text: text, field: field))
    }
    return fields
  }
}
