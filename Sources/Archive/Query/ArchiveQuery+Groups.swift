internal import EventCodec
internal import Primitives
internal import Synchronization

/// One group of events and how many they are.
public struct QueryGroup: Hashable, Sendable {
  /// The JSON of each field it is grouped by; null where it is absent.
  public var values: [[UInt8]]
  public var count: UInt64
}

extension ArchiveQuery {
  /// Groups that a query gives at most; more is an error that says so.
  public static let maximumGroups = 1_000_000

  /// Counts the wanted events by the values of some fields, exactly: by none, it is one group.
  ///
  /// Names and times alone are answered from the catalogue where it can. Groups come by falling count,
  /// then by their JSON.
  /// - Parameter threads: how many read, at most.
  /// - Throws: also when there are more than `maximumGroups` groups, or their keys take over 128 MiB.
  public func groups(
    by fields: [QueryField], threads: Int, maximumGroups: Int = Self.maximumGroups
  ) throws(ArchiveError) -> (groups: [QueryGroup], report: QueryReport) {
    let answers = filter.asksNamesAndTimesOnly && fields.allSatisfy { $0 == .name }
    let (plan, total) = try plan(answers: answers)
    let work = GroupWork(self, fields, queue(plan, isSingle: false), maximumGroups: maximumGroups)
    try work.run(threads: min(threads, plan.units.count))
    var (table, report) = try work.result()
    report.parts = total
    for name in plan.known {
      report.eventsMatched += name.count
      let key = Self.key(of: name.name, fields)
      unsafe table.add(key.span.bytes, name.count)
    }
    return (Self.sorted(table, fields: fields.count), report)
  }

  /// The group of a name that the catalogue knows: `fields` are names only.
  private static func key(of name: [UInt8], _ fields: [QueryField]) -> [UInt8] {
    var json: [UInt8] = []
    unsafe CanonicalJSON.text(name.span.bytes, &json)
    return Array(fields.map { _ in json }.joined(separator: [UInt8(ascii: "\n")]))
  }

  private static func sorted(_ table: GroupTable, fields: Int) -> [QueryGroup] {
    if fields == 0 { return [QueryGroup(values: [], count: table.counts.first ?? 0)] }
    var groups = (0..<table.count).map { id in
      QueryGroup(
        values: table.key(id).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
          .map(Array.init), count: table.counts[id])
    }
    groups.sort {
      if $0.count != $1.count { return $0.count > $1.count }
      for (a, b) in zip($0.values, $1.values) where a != b { return a.lexicographicallyPrecedes(b) }
      return false
    }
    return groups
  }
}

/// Threads that count together.
private final class GroupWork: Sendable {
  private let query: ArchiveQuery
  private let fields: [QueryField]
  private let queue: UnitQueue
  private let shared: SharedGroups
  private let maximumGroups: Int
  private let outcome = Mutex((report: QueryReport(), error: ArchiveError?.none))
  private let isStopped = Atomic<Bool>(false)

  init(_ query: ArchiveQuery, _ fields: [QueryField], _ queue: UnitQueue, maximumGroups: Int) {
    self.query = query
    self.fields = fields
    self.queue = queue
    self.maximumGroups = maximumGroups
    shared = SharedGroups(maximumGroups: maximumGroups)
  }

  /// Returns when all units are read.
  func run(threads: Int) throws(ArchiveError) {
    var running: [OwnedThread] = []
    defer { for thread in running { thread.join() } }
    for number in 1..<max(threads, 1) {
      do throws(SystemError) {
        running.append(try OwnedThread(name: "eb-query-\(number)") { self.count() })
      } catch {
        // The others do the work.
        break
      }
    }
    count()
  }

  func result() throws(ArchiveError) -> (GroupTable, QueryReport) {
    let (report, error) = outcome.withLock { ($0.report, $0.error) }
    if let error { throw error }
    return (shared.takeAll(), report)
  }

  private func count() {
    var groups = GroupTable()
    var key: [UInt8] = []
    var matcher = LineMatcher(query.filter, outputs: fields)
    var reader = UnitReader(query.directory, queue) {
      self.isStopped.load(ordering: .relaxed) || self.query.isCancelled()
    }
    do throws(ArchiveError) {
      try reader.run(&matcher) { matcher, line in
        key.removeAll(keepingCapacity: true)
        for index in fields.indices {
          if index > 0 { key.append(UInt8(ascii: "\n")) }
          let start = key.count
          matcher.append(output: index, of: line, to: &key)
          if key.count == start { key += "null".utf8 }
        }
        unsafe groups.add(key.span.bytes)
        return groups.count < SharedGroups.maximumOwn || give(&groups)
      }
    } catch {
      fail(error)
    }
    _ = give(&groups)
    var report = reader.report
    report.clauses = matcher.sights
    outcome.withLock { $0.report.add(report) }
  }

  private func give(_ groups: inout GroupTable) -> Bool {
    if shared.take(&groups) { return true }
    fail(
      ArchiveError(
        .other,
        "there are more than \(maximumGroups) groups, or their keys are too long: filter first, or group by fewer fields"
      ))
    return false
  }

  private func fail(_ error: ArchiveError) {
    isStopped.store(true, ordering: .relaxed)
    outcome.withLock { $0.error = $0.error ?? error }
  }
}
