import Testing

@testable import Archive

/// Files that the catalogue does not know: what a killed process left goes, what may be all there is of
/// some events stays.
@Suite struct StrayFilesTests {
  let archive: WrittenArchive

  /// Three parts of two events.
  init() throws {
    archive = try WrittenArchive()
    var writer = try archive.begin()
    for offset in 0..<6 as Range<UInt64> {
      try writer.take(GivenEvent(offset: offset))
      if offset % 2 == 1 { try writer.commit() }
    }
  }

  private func write(_ offsets: Range<UInt64>) throws {
    var writer = try archive.open()
    for offset in offsets {
      try writer.take(GivenEvent(offset: offset))
      try writer.commit()
    }
  }

  /// Runs `body`, then puts the catalogue back as it was before.
  private func withOlderCatalogue(_ body: () throws -> Void) throws {
    let path = archive.directory + "/" + ArchiveNames.catalogue
    let old = try fileBytes(path)
    try body()
    for end in ["-wal", "-shm"] where FileSystem.exists(path + end) {
      try FileSystem.remove(path + end)
    }
    try writeFile(path, old)
  }

  private func compact() throws {
    let later = GivenEvent(offset: 0).time + 24 * 3_600_000_000_000
    let report = try ArchiveCompaction(archive.directory, partBytes: 1 << 20).run(now: later)
    #expect(report.partsAfter == 1)
  }

  private func expectRefusal() throws {
    let files = try ArchiveCrashTests.files(of: archive).sorted()
    #expect {
      _ = try archive.open()
    } throws: { error in
      (error as? ArchiveError)?.text.contains("eventbus archive import") == true
    }
    #expect(try ArchiveCrashTests.files(of: archive).sorted() == files)
  }

  @Test func `without a catalogue the files stay, and the start is refused`() throws {
    try FileSystem.remove(archive.directory + "/" + ArchiveNames.catalogue)
    try expectRefusal()
    #expect(try ArchiveCrashTests.files(of: archive).count == 3)
  }

  @Test func `an empty catalogue is no reason to remove files`() throws {
    try writeFile(archive.directory + "/" + ArchiveNames.catalogue, [])
    #expect(throws: ArchiveError.self) { try compact() }
    try expectRefusal()
  }

  @Test func `an older catalogue does not cost what came since`() throws {
    try withOlderCatalogue { try write(6..<9) }
    try expectRefusal()
  }

  @Test func `an older catalogue does not cost what was put together since`() throws {
    try withOlderCatalogue { try compact() }
    try expectRefusal()
  }

  @Test func `what the bus sends again is removed, as often as it was tried`() throws {
    let folder = archive.directory + "/date=2025-11-30/hour=10"
    for name in ["part-1-6-7.ndjson.zst", "part-1-6-9.ndjson.zst"] {
      try writeFile("\(folder)/\(name)", [1])
    }
    try write(6..<7)
    #expect(try archive.offsets() == Array(0..<7))
    #expect(try ArchiveCrashTests.files(of: archive).count == 4)
  }
}
