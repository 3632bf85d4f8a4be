import BusProtocol
import Database
import Testing

@testable import Archive

/// What parts answer for, and that compaction does not make them answer for more.
@Suite struct CoverageTests {
  let archive: WrittenArchive
  private static let later: Int64 = GivenEvent(offset: 0).time + 24 * 3_600_000_000_000

  init() throws { archive = try WrittenArchive() }

  private func covered() throws -> [ClosedRange<UInt64>] { try archive.parts().map(\.covered) }

  private func compact() throws {
    _ = try ArchiveCompaction(archive.directory, partBytes: 1 << 20).run(now: Self.later)
  }

  private func place(_ offset: UInt64) -> Position { Position(epoch: 1, offset: offset) }

  @Test func `a part answers for all since the one before, doubles and unmatched included`() throws
  {
    var writer = try archive.begin()
    try writer.take(GivenEvent(offset: 3, messageId: "a"))
    writer.advance(to: place(8))
    try writer.commit()
    try writer.take(GivenEvent(offset: 10, messageId: "a"))
    // A commit without a part.
    try writer.commit()
    try writer.take(GivenEvent(offset: 12))
    try writer.commit()
    #expect(try covered() == [0...7, 8...12])
    try compact()
    #expect(try covered() == [0...12])
    #expect(try archive.offsets() == [3, 12])
  }

  @Test func `what a cursor was moved over comes in when it is moved back, compacted or not`()
    throws
  {
    var writer = try archive.begin()
    for offset in 0..<5 as Range<UInt64> { try writer.take(GivenEvent(offset: offset)) }
    try writer.seek(to: place(10), generation: 1)
    for offset in 10..<15 as Range<UInt64> {
      try writer.take(GivenEvent(offset: offset))
      if offset == 12 { try writer.commit() }
    }
    try writer.commit()
    #expect(try covered() == [0...4, 10...12, 13...14])
    try compact()
    #expect(try covered() == [0...4, 10...14])
    try writer.seek(to: place(2), generation: 2)
    for offset in 2..<20 as Range<UInt64> {
      try writer.take(GivenEvent(offset: offset, messageId: "again-\(offset)"))
    }
    try writer.commit()
    #expect(try archive.offsets() == Array(0..<20))
    #expect(try covered() == [0...4, 5...9, 10...14, 15...19])
    try compact()
    #expect(try covered() == [0...19])
    #expect(try archive.offsets() == Array(0..<20))
    #expect(try ArchiveVerification(archive.directory).run().damages == [])
  }

  @Test func `a gap ends a part`() throws {
    var writer = try archive.begin()
    try writer.take(GivenEvent(offset: 0))
    try writer.pass(gapTo: place(50))
    try writer.take(GivenEvent(offset: 50))
    try writer.commit()
    #expect(try covered() == [0...0, 50...50])
  }

  @Test func `a part written anew without a person answers for what it did`() throws {
    var writer = try archive.begin()
    for offset in 0..<4 as Range<UInt64> {
      try writer.take(GivenEvent(offset: offset, userId: offset == 3 ? "anna" : nil))
    }
    try writer.take(GivenEvent(offset: 4, name: "$forget", userId: "anna"))
    try writer.commit()
    while writer.forgetting.isDue(at: .max) { try writer.forget() }
    #expect(try archive.offsets() == [0, 1, 2])
    #expect(try covered() == [0...4])
  }

  @Test func `a catalogue of the first schema takes parts to cover what they hold`() throws {
    var writer = try archive.begin()
    try writer.take(GivenEvent(offset: 7))
    try writer.commit()
    try writer.catalogue.database.execute(
      """
      ALTER TABLE parts DROP COLUMN covered_first; ALTER TABLE parts DROP COLUMN covered_last;
      PRAGMA user_version = 1
      """)
    let again = try Catalogue(writing: archive.directory)
    #expect(try again.parts().map(\.covered) == [7...7])
  }
}
