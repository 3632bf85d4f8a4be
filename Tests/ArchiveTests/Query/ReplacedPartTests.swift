import BusProtocol
import Primitives
import Synchronization
import Testing

@testable import Archive

/// Readers while parts are replaced: compaction and forgetting do it at any moment.
@Suite struct ReplacedPartTests {
  let archive: SampleArchive
  let parts: [Part]

  /// Six parts of 10 events.
  init() throws {
    let archive = try SampleArchive()
    self.archive = archive
    parts = try archive.add(
      (0..<6).map { part in
        (0..<10).map { SampleArchive.event("E", second: part * 10 + $0) }
      })
  }

  @Test func `a part that was replaced before its turn is found again, each event once`() throws {
    var lines: [String] = []
    let report = try ArchiveQuery(archive.path).rows { row in
      lines.append(String(decoding: row.line.copied(), as: UTF8.self))
      // While the first part is read, those from the second on are merged with it and each other.
      if lines.count == 3 { try? SampleArchive.merge(Array(parts[0..<4]), in: archive.path) }
      if lines.count == 45 { try? SampleArchive.merge(Array(parts[4..<6]), in: archive.path) }
      return true
    }
    #expect(lines == archive.lines)
    #expect(report.damageCount == 0)
    #expect(report.partsOpened == 4)
  }

  @Test func `a count gives the same when files vanish between its threads`() throws {
    let merged = Mutex(false)
    let (parts, path) = (parts, archive.path)
    var query = ArchiveQuery(archive.path)
    query.isCancelled = {
      // Asked before each part and frame: the first time, all that is planned goes.
      let isFirst = merged.withLock { merged in
        defer { merged = true }
        return !merged
      }
      if isFirst { try? SampleArchive.merge(parts, in: path) }
      return false
    }
    let (groups, report) = try query.groups(by: [.path([Array("type".utf8)])], threads: 3)
    #expect(groups.map(\.count) == [60])
    #expect(report.damageCount == 0)
  }

  @Test func `what took the place of open units covers them and no more`() {
    func part(_ id: Int64, _ first: UInt64, _ last: UInt64) -> Part {
      var part = CatalogueTests.part(first, last).part
      part.id = id
      return part
    }
    func range(_ first: UInt64, _ last: UInt64) -> ClosedRange<Position> {
      Position(epoch: 1, offset: first)...Position(epoch: 1, offset: last)
    }
    var snapshot = CatalogueSnapshot()
    snapshot.parts = [part(1, 0, 9), part(2, 10, 29), part(3, 30, 39), part(4, 50, 59)]
    let open = [range(10, 19), range(25, 34), range(50, 59)]
    let units = QueryPlan.units(for: open, snapshot, ArchiveFilter())
    #expect(units.map(\.part.id) == [2, 2, 3, 4])
    #expect(units.map(\.positions) == [range(10, 19), range(25, 29), range(30, 34), nil])
  }

  @Test func `units that come back in any order are read once each`() throws {
    var snapshot = CatalogueSnapshot()
    func part(_ first: UInt64, _ last: UInt64, id: Int64) -> Part {
      var part = CatalogueTests.part(first, last, revision: Int(id)).part
      part.id = id
      return part
    }
    snapshot.parts = (0..<6).map { part($0 * 10, $0 * 10 + 9, id: Int64($0)) }
    let plan = QueryPlan(snapshot, ArchiveFilter(), answers: false)
    var merged = CatalogueSnapshot()
    merged.parts = [part(0, 59, id: 10)]
    let queue = UnitQueue(plan, ArchiveFilter(), isSingle: false) { [merged] in merged }
    let taken = (0..<4).compactMap { _ in queue.next() }
    // The first two are being read by others; the third and then the second come back.
    #expect(try queue.replace(taken[2]))
    #expect(try queue.replace(taken[1]))
    var ranges: [ClosedRange<Position>] = []
    while let unit = queue.next() { ranges.append(unit.range) }
    #expect(ranges == [taken[1].range, taken[2].range] + plan.units[4...].map(\.range))
    #expect(
      try !queue.replace(QueryPlan.Unit(part: merged.parts[0], testsTime: false, testsNames: false))
    )
  }
}
