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
    /// As it was counted again.
    public var windows: Int
    public var events: UInt64
    /// As the aggregator has it.
    public var eventsBefore: UInt64
    /// Windows that are others in the two, those included that one of them does not have; and the first.
    public var differingWindows = 0
    public var firstDifference: String?
  }

  /// Stores what was counted again, and compares each report's whole answer, byte for byte.
  public func compare() throws(AggregatorError) -> [Comparison] {
    try recount.finish()
    var comparisons: [Comparison] = []
    let question = ReportQuestion(groups: .max)
    for report in reports {
      let old = try ReportQuery.answer(report, in: path, question)
      let new = try ReportQuery.answer(report, in: newPath, question)
      comparisons.append(Self.compare(report.name, old, new))
    }
    return comparisons
  }

  private static func compare(
    _ name: String, _ old: ReportAnswer?, _ new: ReportAnswer?
  ) -> Comparison {
    var comparison = Comparison(
      report: name, isSame: old.map { $0.json == new?.json }, windows: new?.windows.count ?? 0,
      events: new?.counters.events ?? 0, eventsBefore: old?.counters.events ?? 0)
    guard comparison.isSame == false, let old, let new else { return comparison }
    let (before, after) = (old.windowTexts, new.windowTexts)
    let differing = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
    comparison.differingWindows = differing.count
    comparison.firstDifference = differing.min().map { new.zone.text($0) }
    return comparison
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
