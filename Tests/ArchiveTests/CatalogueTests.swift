import BusProtocol
import Database
import Hashing
import TestSupport
import Testing

@testable import Archive

@Suite struct CatalogueTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A part of the offsets from `first` to `last`, whose events happened and came at their offset.
  static func part(
    _ first: UInt64, _ last: UInt64, epoch: UInt32 = 1, names: [String: UInt64] = ["A": 1],
    people: [UInt64] = [], revision: Int = 0
  ) -> NewPart {
    let times = Int64(first)...Int64(last)
    return NewPart(
      part: Part(
        path: "date=1970-01-01/hour=00/"
          + ArchiveNames.part(epoch: epoch, first: first, last: last, revision: revision),
        epoch: epoch, first: first, last: last, count: last - first + 1, bytes: 10, rawBytes: 100,
        sha256: [1, 2, 3], timestamps: times, times: times, created: 5),
      names: names.sorted { $0.key < $1.key }
        .map { NameCount(name: Array($0.key.utf8), count: $0.value) },
      people: PeopleIndex(people))
  }

  func catalogue(_ parts: NewPart...) throws -> Catalogue {
    let catalogue = try Catalogue(writing: folder.path)
    #expect(try catalogue.replace([], with: parts))
    return catalogue
  }

  @Test func `a folder without a catalogue is no archive`() {
    #expect(throws: ArchiveError.self) { _ = try Catalogue(reading: folder.path) }
  }

  @Test(arguments: [
    "parts SET path = '../../../etc/passwd'", "parts SET path = '/etc/passwd'",
    "parts SET path = 'date=1970-01-01/hour=00/../../part-1-3-9.ndjson.zst'",
    "parts SET path = ''", "parts SET count = -1", "parts SET bytes = -1",
    "parts SET raw_bytes = 1 << 60", "parts SET first = -5", "parts SET min_timestamp = 1 << 62",
    "part_names SET count = -3",
  ])
  func `what cannot be in a catalogue is called damage`(_ change: String) throws {
    let catalogue = try catalogue(Self.part(3, 9))
    try catalogue.database.execute("UPDATE " + change)
    #expect {
      for part in try catalogue.parts() { _ = try catalogue.nameCounts(of: part) }
    } throws: {
      ($0 as? ArchiveError)?.kind == .damaged
    }
  }

  @Test func `a part comes back as it was put in`() throws {
    let new = Self.part(3, 9, names: ["A": 2, "B": 5], people: [7, 1, 7])
    let catalogue = try catalogue(new)
    let parts = try catalogue.parts()
    var expected = new.part
    expected.id = try #require(parts.first).id
    #expect(parts == [expected])
    #expect(try catalogue.nameCounts(of: parts[0]) == new.names)
    #expect(try catalogue.people(of: parts[0]).hashes == [1, 7])
  }

  @Test func `the key stays the archive's own`() throws {
    let key = try Catalogue(writing: folder.path).key
    #expect(key.count == KeyedHash.keyBytes)
    #expect(try Catalogue(reading: folder.path).key == key)
    #expect(try Catalogue(writing: folder.path, key: [UInt8](repeating: 1, count: 16)).key == key)
  }

  @Test func `parts come in the order of their positions`() throws {
    let catalogue = try catalogue(
      Self.part(0, 5, epoch: 2), Self.part(10, 19), Self.part(0, 9))
    #expect(
      try catalogue.parts().map(\.firstPosition) == [
        Position(epoch: 1, offset: 0), Position(epoch: 1, offset: 10),
        Position(epoch: 2, offset: 0),
      ])
    #expect(try catalogue.parts(limit: 1).count == 1)
  }

  @Test func `only the parts that overlap the times are listed`() throws {
    let catalogue = try catalogue(Self.part(0, 9), Self.part(10, 19), Self.part(20, 29))
    func first(_ filter: PartFilter) throws -> [UInt64] { try catalogue.parts(filter).map(\.first) }
    #expect(try first(PartFilter(timestampFrom: 19, timestampTo: 20)) == [10])
    #expect(try first(PartFilter(timestampFrom: 20)) == [20])
    #expect(try first(PartFilter(timestampTo: 10)) == [0])
    #expect(try first(PartFilter(from: Position(epoch: 1, offset: 19))) == [10, 20])
    #expect(try first(PartFilter(from: Position(epoch: 2, offset: 0))) == [])
  }

  @Test func `only the parts that hold a name are listed`() throws {
    let catalogue = try catalogue(
      Self.part(0, 9, names: ["A": 10]), Self.part(10, 19, names: ["A": 4, "B": 6]))
    #expect(try catalogue.parts(PartFilter(names: [Array("B".utf8)])).map(\.first) == [10])
    #expect(try catalogue.parts(PartFilter(names: [])).isEmpty)
    #expect(try catalogue.nameCounts().map(\.count) == [14, 6])
  }

  @Test func `parts are replaced together or not at all`() throws {
    let catalogue = try catalogue(Self.part(0, 9), Self.part(10, 19))
    let old = try catalogue.parts()
    #expect(try catalogue.replace(old, with: [Self.part(0, 19, names: ["A": 20], revision: 1)]))
    #expect(try catalogue.parts().map(\.last) == [19])
    #expect(try catalogue.nameCounts().map(\.count) == [20])
    #expect(try !catalogue.replace(old, with: [Self.part(30, 39)]))
    #expect(try catalogue.parts().map(\.last) == [19])
  }

  @Test func `a reader sees what the writer committed after it opened`() throws {
    let writer = try catalogue(Self.part(0, 9))
    let reader = try Catalogue(reading: folder.path)
    #expect(try reader.parts().count == 1)
    #expect(try writer.replace([], with: [Self.part(10, 19)]))
    #expect(try reader.parts().count == 2)
  }
}
