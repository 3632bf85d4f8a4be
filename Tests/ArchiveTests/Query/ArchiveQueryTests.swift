import BusProtocol
import EventCodec
import EventModel
import Primitives
import Synchronization
import Testing

@testable import Archive

@Suite struct ArchiveQueryTests {
  let archive: SampleArchive

  /// Three parts of 25 events, a minute apart, names and users in turn.
  init() throws {
    archive = try SampleArchive()
    try archive.add(
      (0..<3).map { part in
        (0..<25).map { index in
          let number = part * 25 + index
          return SampleArchive.event(
            "Name \(number % 3)", second: number * 60,
            user: number == 30 ? "42" : "\"u\(number % 5)\"",
            properties:
              "{\"n\":\(number),\"on\":\(["true", "1", "\"1\"", "\"true\"", "1.0"][number % 5])}")
        }
      })
  }

  private func rows(
    _ filter: ArchiveFilter, limit: Int = .max
  ) throws -> (lines: [String], report: QueryReport) {
    var lines: [String] = []
    let report = try ArchiveQuery(archive.path, filter).rows { row in
      lines.append(String(decoding: row.line.copied(), as: UTF8.self))
      return lines.count < limit
    }
    return (lines, report)
  }

  private func groups(
    _ fields: String..., filter: ArchiveFilter = ArchiveFilter()
  ) throws -> ([String], QueryReport) {
    let (groups, report) = try ArchiveQuery(archive.path, filter).groups(
      by: fields.map { try #require(QueryField(groupedBy: $0)) }, threads: 2)
    let texts = groups.map { group in
      (group.values.map { String(decoding: $0, as: UTF8.self) } + ["\(group.count)"])
        .joined(separator: " ")
    }
    return (texts, report)
  }

  @Test func `without a filter every line comes as it is stored, in order`() throws {
    let (lines, report) = try rows(ArchiveFilter())
    #expect(lines == archive.lines)
    #expect(report.parts == 3 && report.partsOpened == 3)
    #expect(report.eventsRead == 75 && report.eventsMatched == 75 && report.damageCount == 0)
  }

  @Test func `how far it is grows to the bytes of all files that are read`() throws {
    let told = Mutex<[[UInt64]]>([])
    var query = ArchiveQuery(archive.path)
    query.onProgress = { done, total in told.withLock { $0.append([done, total]) } }
    _ = try query.groups(by: [], threads: 2)
    // The catalogue alone answers that.
    #expect(told.withLock { $0.isEmpty })
    let field = try #require(QueryField(groupedBy: "properties.n"))
    _ = try query.groups(by: [field], threads: 2)
    let bytes = try Catalogue(reading: archive.path).parts().reduce(0) { $0 + $1.bytes }
    #expect(told.withLock { $0.allSatisfy { $0[1] == bytes } })
    #expect(told.withLock { $0.map { $0[0] }.max() } == bytes)
  }

  @Test func `each filter gives the events for which it holds`() throws {
    let start = SampleArchive.start
    var filters: [(ArchiveFilter, (Int) -> Bool)] = []
    var filter = ArchiveFilter()
    filter.patterns = [EventPattern("Name 1"), EventPattern("*2")]
    filters.append((filter, { $0 % 3 != 0 }))
    filter = ArchiveFilter()
    filter.from = start + 10 * 60_000_000_000
    filter.to = start + 40 * 60_000_000_000
    filters.append((filter, { (10..<40).contains($0) }))
    filter = ArchiveFilter()
    filter.user = "u3"
    filters.append((filter, { $0 % 5 == 3 }))
    filter.user = "42"
    filters.append((filter, { $0 == 30 }))
    filter = ArchiveFilter()
    filter.clauses = [try WhereClause("properties.n>=50"), try WhereClause("properties.on=true")]
    filters.append((filter, { $0 >= 50 && $0 % 5 == 0 }))
    for (filter, holds) in filters {
      #expect(
        try rows(filter).lines == archive.lines.indices.filter(holds).map { archive.lines[$0] })
    }
  }

  @Test func `parts outside the times are not opened`() throws {
    var filter = ArchiveFilter()
    filter.from = SampleArchive.start + 25 * 60_000_000_000
    filter.to = SampleArchive.start + 50 * 60_000_000_000
    let (lines, report) = try rows(filter)
    #expect(lines.count == 25)
    #expect(report.parts == 3 && report.partsOpened == 1 && report.eventsRead == 25)
    filter.to = filter.from
    #expect(try rows(filter).report.partsOpened == 0)
  }

  @Test func `parts without the name or the person are not opened`() throws {
    try archive.add([SampleArchive.event("Rare", second: 9000, user: "\"only here\"")])
    var filter = ArchiveFilter()
    filter.patterns = [EventPattern("Rare")]
    #expect(try rows(filter).report.partsOpened == 1)
    filter.patterns = [EventPattern("R*"), EventPattern("nothing")]
    #expect(try rows(filter).report.partsOpened == 1)
    filter = ArchiveFilter()
    filter.user = "only here"
    let (lines, report) = try rows(filter)
    #expect(lines.count == 1 && report.partsOpened == 1)
    filter.user = "nobody"
    #expect(try rows(filter).report.partsOpened == 0)
  }

  @Test func `counts by name come from the catalogue alone`() throws {
    let (names, report) = try groups("event")
    #expect(names == ["\"Name 0\" 25", "\"Name 1\" 25", "\"Name 2\" 25"])
    #expect(report.partsOpened == 0 && report.eventsMatched == 75)
    let (count, whole) = try groups()
    #expect(count == ["75"])
    #expect(whole.partsOpened == 0)
    var filter = ArchiveFilter()
    filter.patterns = [EventPattern("*1")]
    #expect(try groups(filter: filter).0 == ["25"])
    #expect(try groups(filter: filter).1.partsOpened == 0)
  }

  @Test func `a count over a time reads only the parts at its ends`() throws {
    var filter = ArchiveFilter()
    filter.from = SampleArchive.start + 10 * 60_000_000_000
    let (count, report) = try groups(filter: filter)
    #expect(count == ["65"])
    #expect(report.partsOpened == 1 && report.eventsMatched == 65)
    #expect(
      try groups("event", filter: filter).0 == ["\"Name 1\" 22", "\"Name 2\" 22", "\"Name 0\" 21"])
  }

  @Test func `groups keep the types of values apart`() throws {
    #expect(
      try groups("properties.on").0 == [
        "\"1\" 15", "\"true\" 15", "1 15", "1.0 15", "true 15",
      ])
    let (pairs, _) = try groups("properties.on", "event")
    #expect(pairs.count == 15 && pairs.allSatisfy { $0.hasSuffix(" 5") })
    #expect(try groups("properties.nothing").0 == ["null 75"])
  }

  @Test func `too many groups are an error that says so`() throws {
    let query = ArchiveQuery(archive.path)
    let field = try #require(QueryField(groupedBy: "properties.n"))
    #expect(try query.groups(by: [field], threads: 2, maximumGroups: 75).groups.count == 75)
    #expect(throws: ArchiveError.self) {
      try query.groups(by: [field], threads: 2, maximumGroups: 74)
    }
  }

  @Test func `reading ends when nobody takes more`() throws {
    let (lines, report) = try rows(ArchiveFilter(), limit: 3)
    #expect(lines == Array(archive.lines.prefix(3)))
    #expect(report.partsOpened == 1)
  }

  @Test func `an event that is no track is found by its topic`() throws {
    try archive.add([#"{"type":"identify","userId":"x","traits":{"event":"no"}}"#])
    var filter = ArchiveFilter()
    filter.patterns = [EventPattern("$identify"), EventPattern("nothing")]
    #expect(try rows(filter).lines.count == 1)
    filter.clauses = [try WhereClause("userId=x")]
    #expect(try groups("event", filter: filter).0 == ["\"$identify\" 1"])
  }

  @Test func `a query makes and changes nothing`() throws {
    let before = try Files.list(archive.path)
    _ = try rows(ArchiveFilter())
    _ = try groups("userId")
    #expect(try Files.list(archive.path) == before)
    #expect(before.contains("catalogue.sqlite") && !before.contains("catalogue.sqlite-shm"))
  }
}
