import Archive
import Primitives
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// One run of `archive query`.
struct ArchiveQueryRun {
  private let settings: ArchiveQuerySettings
  private let context: Commands.Context
  private let query: ArchiveQuery
  private let format: ArchiveQuerySettings.Format
  private let progress = LibraryProgress("bytes read")

  init(_ settings: ArchiveQuerySettings, _ context: Commands.Context) {
    self.settings = settings
    self.context = context
    let interruption = context.interruption
    var query = ArchiveQuery(settings.directory, settings.filter)
    query.isCancelled = { interruption.isRequested }
    // Events on a terminal show by themselves that it goes on.
    if settings.groupBy != nil || !StandardOutput().isTerminal {
      let progress = progress
      query.onProgress = { progress.update($0, of: $1) }
    }
    self.query = query
    format = settings.format ?? (StandardOutput().isTerminal ? .table : .ndjson)
  }

  func run() throws -> ExitCode {
    let start = SystemClock.monotonic()
    defer { progress.finish() }
    let report =
      if let fields = settings.groupBy { try groups(fields) } else { try rows() }
    progress.finish()
    if let code = context.interruption.code { return code }
    let damage = ArchiveDamageText.lines(
      report.damages, of: report.damageCount, settings.directory)
    for line in damage { Terminal.error("eventbus archive query: \(line)") }
    PathWatch.tell(report, settings.filter.clauses)
    tell(report, seconds: Double(SystemClock.monotonic() - start) / 1e9)
    return report.damageCount > 0 ? .failed : .done
  }

  private func groups(_ fields: [ArchiveQuerySettings.Field]) throws -> QueryReport {
    // More threads than eight wait for one disk.
    let threads = min(8, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    let (groups, report) = try CommandFailure.translating { () throws(ArchiveError) in
      try query.groups(by: fields.map(\.field), threads: threads)
    }
    progress.finish()
    if context.interruption.isRequested { return report }
    var printer = QueryGroupPrinter(format, fields.map(\.text))
    printer.begin()
    for group in groups.prefix(settings.limit ?? groups.count) {
      guard printer.show(group) else { break }
    }
    printer.finish()
    tellUnseen(groups, fields)
    return report
  }

  /// A field that is null in every group is one that no event has.
  private func tellUnseen(_ groups: [QueryGroup], _ fields: [ArchiveQuerySettings.Field]) {
    let events = groups.reduce(0) { $0 + $1.count }
    for (index, field) in fields.enumerated() {
      guard case .path(let path) = field.field else { continue }
      guard groups.allSatisfy({ $0.values[index] == Array("null".utf8) }) else { continue }
      PathWatch.tell(events, path, "by")
    }
  }

  private func rows() throws -> QueryReport {
    var printer = QueryRowPrinter(format, select: settings.select)
    printer.begin()
    var left = settings.limit ?? Int.max
    guard left > 0 else {
      printer.finish()
      return QueryReport()
    }
    let report = try CommandFailure.translating { () throws(ArchiveError) in
      try query.rows(selecting: printer.paths) { row in
        left -= 1
        return printer.show(row) && left > 0
      }
    }
    printer.finish()
    return report
  }

  private func tell(_ report: QueryReport, seconds: Double) {
    if report.parts == 0, settings.limit != 0 {
      Terminal.error(
        "note: the archive has no file yet: the archiver finishes one when the events in it are as old as "
          + "its --roll-age (5m), or many")
    }
    if settings.saysStats {
      Terminal.error(
        "parts \(report.parts), opened \(report.partsOpened), events read \(report.eventsRead), "
          + "matched \(report.eventsMatched), \((seconds * 1000).rounded() / 1000) s")
    }
    guard settings.json else { return }
    let summary = JSONText.object([
      .init("parts", .integer(Int64(report.parts))),
      .init("opened", .integer(Int64(report.partsOpened))),
      .init("read", .integer(Int64(clamping: report.eventsRead))),
      .init("matched", .integer(Int64(clamping: report.eventsMatched))),
      .init("damaged", .integer(Int64(report.damageCount))), .init("seconds", .double(seconds)),
    ])
    Terminal.output("\(summary)\n")
  }
}
