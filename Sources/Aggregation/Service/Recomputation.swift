public import BusProtocol
internal import Database
internal import Primitives
internal import SinkState

/// Counts everything a stopped aggregator has counted again, beside its file, and compares; or puts what
/// it counted in the place of what is there.
public final class Recomputation {
  public let recount: Recount
  /// What the aggregator counted: from its start up to its cursor.
  public let start: Position
  public let end: Position
  private let lock: DirectoryLock
  private let reports: [ReportDefinition]
  private let path: String
  private let newPath: String

  /// - Parameter configuration: as the service has it; the bus is not used.
  /// - Throws: `.inUse` while the service runs.
  public init(_ configuration: AggregatorConfiguration) throws(AggregatorError) {
    var file = configuration.reports.map { WatchedFile($0) }
    let reports = try AggregatorWorker.definitions(&file)
    let lock = try DirectoryLock(configuration.directory)
    let path = "\(configuration.directory)/\(AggregatorStore.fileName)"
    let newPath = path + ".recomputed"
    DatabaseFiles.remove(newPath)
    let progress: SinkProgress?
    do throws(DatabaseError) {
      progress = try SinkTables.load(try Database(path, migrations: AggregatorStore.migrations))
    } catch { throw .database(error) }
    guard let progress else {
      throw .system(text: "\(configuration.directory) holds nothing that was counted")
    }
    start = progress.ledger.start
    end = progress.cursor
    recount = try Recount(
      newPath, reports, keyOf: path, start: start, configuration: configuration)
    self.reports = reports
    self.lock = lock
    self.path = path
    self.newPath = newPath
  }

  public struct Comparison: Sendable {
    public var report: String
    /// Nil: the file does not know the report yet.
    public var isSame: Bool?
  }

  /// Stores what was counted again, and compares each report's whole answer, byte for byte.
  public func compare() throws(AggregatorError) -> [Comparison] {
    try recount.finish()
    var comparisons: [Comparison] = []
    let question = ReportQuestion(groups: .max)
    for report in reports {
      let old = try ReportQuery.answer(report, in: path, question)?.json
      let new = try ReportQuery.answer(report, in: newPath, question)?.json
      comparisons.append(Comparison(report: report.name, isSame: old.map { $0 == new }))
    }
    return comparisons
  }

  /// Puts what was counted again in the place of what the aggregator had: all reports, their users and
  /// windows, joined ids, doubles, and the ledger. In one transaction, so a kill leaves the one or the
  /// other. The cursor's place stays, as do whom it has forgotten, and which moves of its cursor it obeyed.
  public func replace() throws(AggregatorError) {
    try recount.finish()
    do throws(DatabaseError) {
      let database = try Database(path, migrations: AggregatorStore.migrations, erases: true)
      let attach = try database.prepare("ATTACH ? AS new")
      try attach.bind(1, newPath)
      try attach.run()
      try database.transaction { () throws(DatabaseError) in
        let seeks = "(SELECT seek_generation FROM main.sink_progress)"
        try database.execute("UPDATE new.sink_progress SET seek_generation = \(seeks)")
        for table in AggregatorStore.recountedTables {
          try database.execute(
            "DELETE FROM main.\(table); INSERT INTO main.\(table) SELECT * FROM new.\(table)")
        }
      }
      try database.execute("DETACH new")
    } catch { throw .database(error) }
  }

  /// Removes what was counted again.
  public func discard() { DatabaseFiles.remove(newPath) }
}
