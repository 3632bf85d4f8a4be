internal import Primitives

/// Looks for events in an archive's files, beside its archiver or without one. Nothing is changed.
///
/// Parts that cannot hold what is wanted are not opened: the catalogue knows their times, names and
/// people. What is read is what the catalogue listed when the query began. The calling thread is used,
/// or several threads of its own where the order does not matter; do not call it where one may not block.
public struct ArchiveQuery: Sendable {
  public var directory: String
  public var filter: ArchiveFilter
  /// Asked between frames; once true, the query ends with what it has.
  public var isCancelled: @Sendable () -> Bool = { false }
  /// Told how many bytes of the files that have to be read are through, of how many; on any thread.
  public var onProgress: @Sendable (_ bytes: UInt64, _ total: UInt64) -> Void = { _, _ in }

  public init(_ directory: String, _ filter: ArchiveFilter = ArchiveFilter()) {
    self.directory = directory
    self.filter = filter
  }

  /// One wanted event, while `rows` gives it.
  public struct Row: ~Copyable, ~Escapable {
    /// The line as it is stored: canonical JSON, without its newline.
    public let line: RawSpan
    private let matcher: LineMatcher

    @_lifetime(copy line)
    init(_ line: RawSpan, _ matcher: borrowing LineMatcher) {
      self.line = line
      self.matcher = copy matcher
    }

    /// The JSON at the path with that number among those selected; nil where there is none.
    @_lifetime(copy self)
    public func value(_ number: Int) -> RawSpan? {
      let range = matcher.found(number)
      return range.isEmpty ? nil : line.extracting(range)
    }
  }

  /// Gives every wanted event in the order of (epoch, offset), until `take` says no.
  ///
  /// Memory does not grow with the result.
  /// - Parameter paths: what `Row.value` finds, from the event's root.
  public func rows(
    selecting paths: [[[UInt8]]] = [], _ take: (borrowing Row) -> Bool
  ) throws(ArchiveError) -> QueryReport {
    let (plan, total) = try plan(answers: false)
    var matcher = LineMatcher(filter, outputs: paths.map { .path($0) })
    var reader = UnitReader(
      directory, queue(plan, isSingle: true), isCancelled: isCancelled)
    try reader.run(&matcher) { matcher, line in take(Row(line, matcher)) }
    var report = reader.report
    report.parts = total
    report.clauses = matcher.sights
    return report
  }

  /// The files of all parts, from the working directory, in the order of positions, and which of them are
  /// not there or have another length than the catalogue says. Nothing is read of them.
  public func checkedFiles() throws(ArchiveError) -> (paths: [String], damages: [PartDamage]) {
    let directory = directory
    let parts = try CatalogueSnapshot.read(directory) { catalogue throws(ArchiveError) in
      try catalogue.parts()
    }
    return (parts.map { "\(directory)/\($0.path)" }, parts.compactMap(wrongLength))
  }

  private func wrongLength(_ part: Part) -> PartDamage? {
    do throws(SystemError) {
      let length = try ReadFile("\(directory)/\(part.path)").bytes()
      guard length != part.bytes else { return nil }
      return PartDamage(
        file: part.path, byte: min(length, part.bytes),
        reason: "the file has \(length) bytes, and the catalogue says \(part.bytes)")
    } catch {
      return PartDamage(file: part.path, byte: 0, reason: "it cannot be read: \(error)")
    }
  }

  func plan(answers: Bool) throws(ArchiveError) -> (QueryPlan, total: Int) {
    let filter = filter
    let snapshot = try CatalogueSnapshot.read(directory) { catalogue throws(ArchiveError) in
      try CatalogueSnapshot(catalogue, filter, wantsNames: answers)
    }
    return (QueryPlan(snapshot, filter, answers: answers), snapshot.total)
  }

  func queue(_ plan: QueryPlan, isSingle: Bool) -> UnitQueue {
    let (directory, filter) = (directory, filter)
    return UnitQueue(plan, filter, isSingle: isSingle, onProgress) { () throws(ArchiveError) in
      try CatalogueSnapshot.read(directory) { catalogue throws(ArchiveError) in
        try CatalogueSnapshot(catalogue, filter, wantsNames: false)
      }
    }
  }
}
