import BusProtocol
import Primitives
import Testing

@testable import Archive

@Suite struct CompactionTests {
  let archive: SampleArchive
  private static let hour: Int64 = 3_600_000_000_000

  /// Five parts in each of two hours, 10 events each.
  init() throws {
    let archive = try SampleArchive()
    self.archive = archive
    let groups = (0..<10).map { part in
      (0..<10).map { number in
        SampleArchive.event(
          "E \(number % 2)", second: part * 10 + number, user: "\"u\(part)\"")
      }
    }
    try archive.add(groups, hours: (0..<10).map { $0 / 5 })
  }

  private func parts() throws -> [Part] { try Catalogue(reading: archive.path).parts() }

  private func compact(
    bytes: UInt64 = 1 << 20, hour: Int64 = 5
  ) throws -> ArchiveCompaction.Report {
    try ArchiveCompaction(archive.path, partBytes: bytes)
      .run(now: SampleArchive.start + hour * Self.hour)
  }

  private func lines() throws -> [String] {
    var lines: [String] = []
    let report = try ArchiveQuery(archive.path).rows { row in
      lines.append(String(decoding: row.line.copied(), as: UTF8.self))
      return true
    }
    #expect(report.damageCount == 0)
    return lines
  }

  @Test func `the parts of each closed hour become one and hold what they held`() throws {
    let names = try Catalogue(reading: archive.path).nameCounts()
    let report = try compact()
    #expect(report.partsBefore == 10 && report.partsAfter == 2 && report.damages.isEmpty)
    #expect(report.partsWaiting == 0)
    let parts = try parts()
    #expect(parts.map(\.first) == [0, 50] && parts.map(\.last) == [49, 99])
    #expect(parts.map(\.count) == [50, 50])
    #expect(try lines() == archive.lines)
    #expect(try Catalogue(reading: archive.path).nameCounts() == names)
    let findings = try ArchiveVerification(archive.path).run()
    #expect(findings.damages == [] && findings.strayFiles == [] && findings.events == 100)
    // Small frames became large ones, and nothing is left to do.
    #expect(report.bytesWritten < report.bytesRead)
    #expect(try compact().partsAfter == 2)
    #expect(try self.parts() == parts)
  }

  @Test func `the present hour is left alone`() throws {
    let report = try compact(hour: 1)
    #expect(report.partsAfter == 6 && report.partsWaiting == 5)
    #expect(try parts().map(\.last) == [49, 59, 69, 79, 89, 99])
    #expect(try compact(hour: 0).partsAfter == 6)
  }

  @Test func `parts grow no larger than they may`() throws {
    let before = try parts()
    let largest = before.map(\.bytes).max() ?? 0
    #expect(try compact(bytes: largest * 3).damages.isEmpty)
    #expect(try parts().map(\.count) == [30, 20, 30, 20])
    // Three quarters of the size are large enough.
    #expect(try compact(bytes: 1).partsAfter == 4)
  }

  @Test func `a damaged part stays, with its neighbours, and is named`() throws {
    let part = try parts()[2]
    let path = archive.path + "/" + part.path
    var bytes = try Files.read(path)
    bytes[bytes.count / 2] ^= 1
    try Files.write(bytes, to: path)
    let report = try compact()
    #expect(report.damages.map(\.file) == [part.path])
    #expect(report.partsAfter == 6)
    #expect(try ArchiveVerification(archive.path).run().strayFiles == [])
  }

  @Test func `one at a time`() throws {
    let lock = try ArchiveLock(.maintenance, of: archive.path)
    #expect { try compact() } throws: { ($0 as? ArchiveError)?.kind == .inUse }
    _ = consume lock
    #expect(try compact().partsAfter == 2)
  }

  @Test func `files that somebody has others read stay where they are`() throws {
    #expect { _ = try ArchiveLock(keepingFilesOf: archive.path) } throws: {
      ($0 as? ArchiveError)?.kind == .missing
    }
    let lock = try ArchiveLock(.maintenance, of: archive.path)
    #expect { _ = try ArchiveLock(keepingFilesOf: archive.path) } throws: {
      ($0 as? ArchiveError)?.kind == .inUse
    }
    _ = consume lock
    let one = try ArchiveLock(keepingFilesOf: archive.path)
    let other = try ArchiveLock(keepingFilesOf: archive.path)
    _ = consume one
    #expect { try compact() } throws: { ($0 as? ArchiveError)?.kind == .inUse }
    _ = consume other
    #expect(try compact().partsAfter == 2)
  }

  @Test func `what a killed compaction left changes nothing and is made again`() throws {
    // Killed before the catalogue knew: the new file has its name already.
    let before = try parts()
    let folder = before[0].path.split(separator: "/").dropLast().joined(separator: "/")
    let name = ArchiveNames.part(epoch: 1, first: 0, last: 49, revision: 1)
    try Files.write([1, 2, 3], to: "\(archive.path)/\(folder)/\(name)")
    try Files.write([1], to: "\(archive.path)/\(folder)/.tmp-\(name)")
    #expect(try lines() == archive.lines)
    #expect(try compact().partsAfter == 2)
    #expect(try lines() == archive.lines)
    #expect(try ArchiveVerification(archive.path).run().damageCount == 0)
    #expect(try ArchiveVerification(archive.path).run().strayFiles == [])
  }

  @Test(
    arguments: [
      // Other hour, other epoch, too large, and a size that only two fit.
      ([(1, "a", 10), (1, "b", 10)], []), ([(1, "a", 10), (2, "a", 10)], []),
      ([(1, "a", 10), (1, "a", 80), (1, "a", 10)], []),
      ([(1, "a", 50), (1, "a", 40), (1, "a", 20), (1, "a", 70)], [[0, 1], [2, 3]]),
      ([(1, "a", 10), (1, "z", 10), (1, "z", 10)], []), ([(1, "a", 10)], []), ([], []),
    ] as [([(UInt32, String, UInt64)], [[UInt64]])])
  func `neighbours of one closed hour are put together`(
    _ row: (parts: [(UInt32, String, UInt64)], groups: [[UInt64]])
  ) {
    let parts = row.parts.enumerated().map { index, entry in
      var part = CatalogueTests.part(UInt64(index), UInt64(index), epoch: entry.0).part
      part.path = "\(entry.1)/part"
      part.bytes = entry.2
      return part
    }
    let groups = CompactionPlan.groups(parts, openFolder: "z", bytes: 100)
    #expect(groups.map { $0.map(\.first) } == row.groups)
  }
}
