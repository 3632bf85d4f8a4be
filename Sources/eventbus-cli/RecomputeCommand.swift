import Aggregation
import Archive
import BusClient
import BusProtocol
import EventCodec
import Primitives
import ServiceRuntime

/// `eventbus aggregator recompute`: are the numbers what the archive says?
enum RecomputeCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "aggregator recompute", group: "Administration",
      summary: "Counts the archive again, and compares with what a stopped aggregator has.",
      options: [
        .option("from-archive", "DIR", help: "The archiver's directory."),
        .option(
          "data", "DIR", help: "Where the aggregator keeps its file.", default: "./eventbus-data"),
        .option("reports", "FILE", help: "The aggregator's report file, if it has one."),
        .option(
          "timeout", "TIME", help: "How long to wait for the bus, for what is not archived yet.",
          default: "5s"),
        .flag("json", help: "One line of JSON on stdout."),
      ],
      examples: [
        CommandExample(
          "eventbus aggregator recompute --from-archive ./eventbus-data/archive",
          "Exit 0 when every report is the same."),
        CommandExample(
          "eventbus aggregator recompute --from-archive /archive --json", "For a script."),
      ]),
    run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let arguments = context.arguments
    let archive = try arguments.requiredText("from-archive")
    var configuration = AggregatorConfiguration(
      bus: try arguments.requiredText("bus"),
      directory: "\(try arguments.requiredText("data"))/aggregator")
    configuration.reports = arguments.text("reports")
    let recomputation: Recomputation
    do throws(AggregatorError) {
      recomputation = try Recomputation(configuration)
    } catch { throw AggregatorCommand.failure(error) }
    defer { recomputation.discard() }
    let archived = try countArchive(archive, recomputation, context)
    try countJournal(configuration.bus, recomputation, context)
    if let code = context.interruption.code { return code }
    let comparisons: [Recomputation.Comparison]
    do throws(AggregatorError) {
      comparisons = try recomputation.compare()
    } catch { throw AggregatorCommand.failure(error) }
    show(comparisons, events: archived, arguments)
    return comparisons.allSatisfy { $0.isSame ?? true } ? .done : .failed
  }

  /// Events of the archive in the order of their offsets, up to the aggregator's cursor.
  private static func countArchive(
    _ directory: String, _ recomputation: Recomputation, _ context: Commands.Context
  ) throws -> UInt64 {
    var query = ArchiveQuery(directory)
    let interruption = context.interruption
    query.isCancelled = { interruption.isRequested }
    var reader = ReplayReader(archive: [])
    var count: UInt64 = 0
    var failure: (any Error)?
    _ = try CommandFailure.translating { () throws(ArchiveError) in
      try query.rows(selecting: [[Array("receivedAt".utf8)]]) { row in
        do {
          let position = try reader.read(row.line)
          guard position < recomputation.end else { return false }
          guard position >= recomputation.recount.cursor else { return true }
          let time = Self.time(row.value(0))
          let (topic, payload) = (reader.topic, reader.payload)
          try recomputation.recount.take(
            unsafe Recount.Event(
              name: topic.span.bytes, payload: payload.span.bytes, position: position, time: time))
          count += 1
          return true
        } catch {
          failure = error
          return false
        }
      }
    }
    if let failure { throw CommandFailure(.failed, "\(directory): \(failure)") }
    return count
  }

  /// A time as the archive writes it, in quotes.
  private static func time(_ json: RawSpan?) -> Int64 {
    guard let json else { return 0 }
    let text = String(decoding: json.copied().dropFirst().dropLast(), as: UTF8.self)
    return Timestamp(text: text)?.nanoseconds ?? 0
  }

  /// What the archiver has not stored yet lies in the journal.
  private static func countJournal(
    _ bus: String, _ recomputation: Recomputation, _ context: Commands.Context
  ) throws {
    guard recomputation.recount.cursor < recomputation.end else { return }
    let timeout = try context.arguments.value("timeout", as: Duration.self)
    var configuration = SubscriberConfiguration(address: bus, client: "eventbus recompute")
    configuration.start = .position(recomputation.recount.cursor)
    let subscriber = try Subscriber(configuration)
    defer { subscriber.close() }
    while recomputation.recount.cursor < recomputation.end, !context.interruption.isRequested {
      guard let batch = try subscriber.nextBatch(deadline: timeout) else {
        throw CommandFailure(
          .busUnreachable,
          "the archive ends before the aggregator's cursor, and \(bus) did not answer within "
            + "\(timeout): is `eventbus broker` running there?")
      }
      do throws(AggregatorError) {
        try recomputation.recount.take(batch, before: recomputation.end)
      } catch { throw AggregatorCommand.failure(error) }
    }
  }

  private static func show(
    _ comparisons: [Recomputation.Comparison], events: UInt64, _ arguments: Arguments
  ) {
    if arguments.flag("json") {
      let reports = comparisons.map { comparison in
        JSONText.object([
          .init("report", .text(comparison.report)),
          .init("same", comparison.isSame.map { .boolean($0) } ?? .null),
        ])
      }
      let line = JSONText.object([
        .init("archived", .integer(Int64(clamping: events))), .init("reports", .list(reports)),
      ])
      Terminal.output("\(line)\n")
      return
    }
    var table = Table([.init("report"), .init("recomputed")])
    for comparison in comparisons {
      let word = comparison.isSame.map { $0 ? "the same" : "DIFFERS" } ?? "not counted yet"
      table.append([comparison.report, word])
    }
    Terminal.output(table.text)
  }
}
