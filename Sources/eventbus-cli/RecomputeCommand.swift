import Aggregation
import Archive
import BusClient
import BusProtocol
import EventCodec
import EventModel
import Primitives
import ServiceRuntime
import SinkState

/// `eventbus aggregator recompute`: are the numbers what the archive says? And if not, let them be.
enum RecomputeCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "aggregator recompute", group: "Administration",
      summary:
        "Counts the archive again: compares with what a stopped aggregator has, or replaces it.",
      options: [
        .option("from-archive", "DIR", help: "The archiver's directory."),
        .option(
          "data", "DIR", help: "Where the aggregator keeps its file.", default: "./eventbus-data"),
        .option("reports", "FILE", help: "The aggregator's report file, if it has one."),
        .repeated("events", "PATTERN", help: "Event names that the aggregator takes; all without."),
        .repeated("exact", "NAME", help: "An event name without special characters."),
        .flag(
          "replace",
          help:
            "Put what was counted in the place of the aggregator's numbers: gives new and changed "
            + "reports their past, and mends what differs."),
        .flag(
          "partial",
          help:
            "Replace even where the archive is damaged or begins later than the aggregator did: "
            + "what is missing is missing in the numbers then."),
        .option(
          "timeout", "TIME", help: "How long to wait for the bus, for what is not archived yet.",
          default: "5s"),
        .json,
      ],
      examples: [
        CommandExample(
          "eventbus aggregator recompute --from-archive ./eventbus-data/archive",
          "Exit 0 when every report is the same."),
        CommandExample(
          "eventbus aggregator recompute --from-archive /archive --reports new.json --replace",
          "The past of new reports; then start the aggregator with the same file."),
      ]),
    run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let arguments = context.arguments
    let archive = try arguments.requiredText("from-archive")
    var configuration = AggregatorConfiguration(
      bus: try arguments.requiredText("bus"),
      directory: "\(try arguments.requiredText("data"))/aggregator")
    configuration.reports = arguments.text("reports")
    configuration.filters = try arguments.nameFilters()
    if arguments.flag("partial"), !arguments.flag("replace") {
      throw UsageError("--partial is for --replace")
    }
    let recomputation = try translating { () throws(AggregatorError) in
      try Recomputation(configuration)
    }
    return try recompute(recomputation, archive, configuration, context)
  }

  private static func recompute(
    _ recomputation: Recomputation, _ archive: String, _ configuration: AggregatorConfiguration,
    _ context: Commands.Context
  ) throws -> ExitCode {
    defer { recomputation.discard() }
    let archived = try countArchive(archive, recomputation, configuration, context)
    let fromJournal = try countJournal(configuration, recomputation, context)
    if let code = context.interruption.code { return code }
    let comparisons = try translating { () throws(AggregatorError) in try recomputation.compare() }
    let isReplacing = context.arguments.flag("replace")
    if isReplacing {
      try checkIsWhole(archived, recomputation, context.arguments)
      try translating { () throws(AggregatorError) in try recomputation.replace() }
    }
    RecomputeText.show(
      comparisons, archived: archived.count, journal: fromJournal,
      isJSON: context.arguments.flag("json"))
    return isReplacing || comparisons.allSatisfy { $0.isSame ?? true } ? .done : .failed
  }

  private struct Archived {
    var count: UInt64 = 0
    var damages = 0
  }

  private static func checkIsWhole(
    _ archived: Archived, _ recomputation: Recomputation, _ arguments: Arguments
  ) throws(CommandFailure) {
    let missing = recomputation.recount.missing
    guard missing > 0 || archived.damages > 0, !arguments.flag("partial") else { return }
    throw CommandFailure(
      .failed,
      "nothing was replaced: the archive has \(archived.damages.counted("damaged place")), and \(missing) "
        + "events since the aggregator's start are neither there nor in the journal; with --partial "
        + "the numbers go without them")
  }

  /// Events of the archive in the order of their offsets, up to the aggregator's cursor.
  private static func countArchive(
    _ directory: String, _ recomputation: Recomputation, _ configuration: AggregatorConfiguration,
    _ context: Commands.Context
  ) throws -> Archived {
    var query = ArchiveQuery(directory)
    query.filter.patterns = SinkFilters.obeyingForget(configuration.filters).map { filter in
      filter.kind == .exact ? EventPattern(exact: filter.text) : EventPattern(glob: filter.text)
    }
    let interruption = context.interruption
    query.isCancelled = { interruption.isRequested }
    var reader = ReplayReader(archive: [])
    var archived = Archived()
    var failure: (any Error)?
    let report = try CommandFailure.translating { () throws(ArchiveError) in
      try query.rows(selecting: [[Array("receivedAt".utf8)]]) { row in
        do {
          let position = try reader.read(row.line)
          let recount = recomputation.recount
          guard position < recomputation.end else { return false }
          guard position >= recount.cursor else { return true }
          if archived.count == 0 { try recount.skip(to: position) }
          let time = Self.time(row.value(0))
          let (topic, payload) = (reader.topic, reader.payload)
          try recount.take(
            unsafe Recount.Event(
              name: topic.span.bytes, payload: payload.span.bytes, position: position, time: time))
          archived.count += 1
          return true
        } catch {
          failure = error
          return false
        }
      }
    }
    if let failure { throw CommandFailure(.failed, "\(directory): \(failure)") }
    archived.damages = report.damageCount
    let damages = ArchiveDamageText.lines(report.damages, of: report.damageCount, directory)
    for line in damages { Terminal.error("eventbus aggregator recompute: \(line)") }
    return archived
  }

  /// A time as the archive writes it, in quotes.
  private static func time(_ json: RawSpan?) -> Int64 {
    guard let json else { return 0 }
    let text = String(decoding: json.copied().dropFirst().dropLast(), as: UTF8.self)
    return Timestamp(text: text)?.nanoseconds ?? 0
  }

  /// What the archiver has not stored yet lies in the journal. Returns how many events that were.
  private static func countJournal(
    _ aggregator: AggregatorConfiguration, _ recomputation: Recomputation,
    _ context: Commands.Context
  ) throws -> UInt64 {
    guard recomputation.recount.cursor < recomputation.end else { return 0 }
    var count: UInt64 = 0
    let timeout = try context.arguments.value("timeout", as: Duration.self)
    let bus = aggregator.bus
    var configuration = SubscriberConfiguration(address: bus, client: "eventbus recompute")
    configuration.filters = SinkFilters.obeyingForget(aggregator.filters)
    configuration.start = .position(recomputation.recount.cursor)
    let subscriber = try Subscriber(configuration)
    defer { subscriber.close() }
    while recomputation.recount.cursor < recomputation.end, !context.interruption.isRequested {
      guard let batch = try subscriber.nextBatch(deadline: timeout) else {
        throw CommandFailure.unreachable(
          bus, within: timeout, "the archive ends before the aggregator's cursor, and ")
      }
      try translating { () throws(AggregatorError) in
        try recomputation.recount.take(batch, before: recomputation.end)
      }
      batch.forEach { place, _, _ in if place.position < recomputation.end { count += 1 } }
    }
    return count
  }

  private static func translating<R>(
    _ body: () throws(AggregatorError) -> R
  ) throws(CommandFailure) -> R {
    do throws(AggregatorError) {
      return try body()
    } catch { throw AggregatorCommand.failure(error) }
  }
}
