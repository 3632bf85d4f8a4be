import BusProtocol
import Primitives
import SinkState
import TestSupport
import Testing

@testable import Archive

/// The archiver dies between any two steps, again and again; the next one reads on from the catalogue's
/// cursor, as the broker would send it.
@Suite struct ArchiveCrashTests {
  struct Death: Error {}

  /// Writes `events` until all are in, dying where the seed says; returns how often it died.
  static func write(
    _ events: [GivenEvent], to archive: WrittenArchive, random: inout SeededRandom
  ) throws -> [ArchiveStep: Int] {
    var deaths: [ArchiveStep: Int] = [:]
    while true {
      var writer = try archive.open()
      if writer.progress == nil {
        try writer.begin(at: Position(epoch: 1, offset: 0), seekGeneration: 0)
      }
      let step = ArchiveStep.allCases.randomElement(using: &random)
      let countdown = Countdown(Int.random(in: 1...4, using: &random))
      writer.onStep = { (at: ArchiveStep) throws(ArchiveError) in
        if at == step, countdown.reachesZero() { throw ArchiveError(.other, "died") }
      }
      let start = writer.progress?.cursor.offset ?? 0
      do {
        for event in events[Int(start)...] {
          try writer.take(event)
          if Int.random(in: 0..<7, using: &random) == 0 { try writer.commit() }
        }
        try writer.commit()
        return deaths
      } catch let error as ArchiveError where error.text == "died" {
        deaths[try #require(step), default: 0] += 1
      }
    }
  }

  final class Countdown {
    private var left: Int
    init(_ count: Int) { left = count }
    func reachesZero() -> Bool {
      left -= 1
      return left == 0
    }
  }

  @Test(arguments: 1...8)
  func `whenever it dies, no event is missing and none is there twice`(seed: UInt64) throws {
    let archive = try WrittenArchive()
    var random = SeededRandom(seed: seed)
    let events = (0..<120 as Range<UInt64>).map { offset in
      // One in four is a double of an event before.
      let isDouble = offset > 0 && Int.random(in: 0..<4, using: &random) == 0
      let original = isDouble ? UInt64.random(in: 0..<offset, using: &random) : offset
      return GivenEvent(offset: offset, messageId: "m\(original)")
    }
    var seen: Set<String> = []
    let expected = events.filter { seen.insert($0.messageId ?? "").inserted }.map(\.offset)
    let deaths = try Self.write(events, to: archive, random: &random)
    #expect(try archive.offsets() == expected)
    #expect(deaths.values.reduce(0, +) > 0)
    let progress = try #require(try Catalogue(reading: archive.directory).progress())
    #expect(progress.cursor.offset == 120)
    #expect(progress.ledger.applied == UInt64(expected.count))
    #expect(progress.ledger.duplicate == UInt64(120 - expected.count))
    #expect(try Self.files(of: archive).count == archive.parts().count)
  }

  /// All files below the folders of hours.
  static func files(of archive: WrittenArchive) throws -> [String] {
    var files: [String] = []
    for day in try FileSystem.list(archive.directory) where day.hasPrefix("date=") {
      for hour in try FileSystem.list("\(archive.directory)/\(day)") {
        files += try FileSystem.list("\(archive.directory)/\(day)/\(hour)")
      }
    }
    return files
  }

  @Test func `files of others stay where they are`() throws {
    let archive = try WrittenArchive()
    do {
      var writer = try archive.begin()
      try writer.take(GivenEvent(offset: 0))
      try writer.commit()
    }
    let folder = archive.directory + "/date=2025-11-30/hour=10"
    for name in ["notes.txt", "part-x.ndjson.zst", "part-1-0-0.ndjson.zst.bak"] {
      try writeFile("\(folder)/\(name)", [1])
    }
    for name in [".tmp-part-1-5", "part-1-5-9.ndjson.zst", "part-1-0-0-r3.ndjson.zst"] {
      try writeFile("\(folder)/\(name)", [1])
    }
    let writer = try archive.open()
    #expect(writer.removed.count == 3)
    #expect(try Self.files(of: archive).count == 4)
  }

  @Test func `the lock names its holder`() throws {
    let archive = try WrittenArchive()
    _ = try archive.open()
    let lock = try ArchiveLock(.archiver, of: archive.directory)
    do {
      _ = try ArchiveLock(.archiver, of: archive.directory)
      Issue.record("the lock was given twice")
    } catch {
      #expect(error.kind == .inUse)
      #expect(error.text.contains("in use by process "))
    }
    _ = consume lock
    _ = try ArchiveLock(.archiver, of: archive.directory)
  }
}
