import BusProtocol
import Testing

@testable import Archive

@Suite struct VerificationTests {
  let archive: SampleArchive
  let parts: [Part]

  /// Two parts of 20 events, in frames of 5.
  init() throws {
    let archive = try SampleArchive()
    archive.frameLines = 5
    self.archive = archive
    parts = try archive.add(
      (0..<2).map { part in
        (0..<20).map { number in
          SampleArchive.event(
            "E \(number % 3)", second: part * 20 + number,
            user: ["\"u\"", "7", "null"][number % 3],
            properties:
              "{\"text\":\"\\u0000\\u2028 \(number)\",\"list\":[1,1.0,18446744073709551615]}")
        }
      })
  }

  private func verify() throws -> ArchiveFindings { try ArchiveVerification(archive.path).run() }

  private func file(_ part: Int) -> String { archive.path + "/" + parts[part].path }

  @Test func `an archive as it was written has no damage`() throws {
    let findings = try verify()
    #expect(findings.damages == [] && findings.damageCount == 0 && findings.strayFiles == [])
    #expect(findings.parts == 2 && findings.events == 40)
    #expect(findings.bytes == parts.reduce(0) { $0 + $1.bytes })
  }

  @Test func `whatever byte is changed, it is found in its file`() throws {
    let catalogue = try Catalogue(reading: archive.path)
    let listed = ArchiveVerification.Listed(
      part: parts[1], names: try catalogue.nameCounts(of: parts[1]),
      people: try catalogue.people(of: parts[1]))
    let hash = catalogue.hash
    let bytes = try Files.read(file(1))
    let verification = ArchiveVerification(archive.path)
    #expect(try verification.check(listed, hash).damageCount == 0)
    for at in bytes.indices {
      var changed = bytes
      changed[at] ^= UInt8(truncatingIfNeeded: 1 << (at % 8))
      try Files.write(changed, to: file(1))
      let findings = try verification.check(listed, hash)
      #expect(findings.damageCount > 0 && findings.damages.allSatisfy { $0.file == parts[1].path })
    }
  }

  @Test func `every damaged frame of a file is named with its place`() throws {
    var bytes = try Files.read(file(0))
    let starts = (0..<bytes.count - 4).filter {
      Array(bytes[$0..<$0 + 4]) == [0x28, 0xB5, 0x2F, 0xFD]
    }
    try #require(starts.count == 4)
    // Within the compressed block of the first and of the third frame.
    for frame in [0, 2] { bytes[starts[frame] + 40] ^= 0xFF }
    try Files.write(bytes, to: file(0))
    let frames = try verify().damages.filter { $0.reason.contains("SHA-256") == false }
    #expect(frames.map(\.byte) == [UInt64(starts[0]), UInt64(starts[2])])
    #expect(frames.map(\.lastGood) == [nil, Position(epoch: 1, offset: 9)])
  }

  @Test func `a cut, a grown and a lost file are found`() throws {
    let bytes = try Files.read(file(0))
    for changed in [Array(bytes.dropLast()), bytes + [0], Array(bytes.prefix(bytes.count / 2)), []]
    {
      try Files.write(changed, to: file(0))
      let findings = try verify()
      #expect(findings.damageCount > 0 && findings.damages[0].file == parts[0].path)
    }
    try Files.remove(file(0))
    #expect(try verify().damages.map(\.reason) == ["the file is not there"])
  }

  @Test func `lines that say something else than the catalogue are found`() throws {
    let small = try SampleArchive()
    try small.add([
      SampleArchive.event("A", second: 1), SampleArchive.event("B", second: 2, user: "\"v\""),
    ])
    #expect(try ArchiveVerification(small.path).run().damageCount == 0)
    func reasons(_ change: ([[UInt8]]) -> [[UInt8]]) throws -> String {
      try small.spoil(change)
      return try ArchiveVerification(small.path).run().damages.map(\.reason).joined(separator: "; ")
    }
    let lines = small.lines
    #expect(
      try reasons { $0.reversed() }.contains(
        "line 2 of this frame has offset 0, which is not behind 1"))
    let other = lines[0].replacing("\"A\"", with: "\"C\"")
    #expect(
      try reasons { _ in [Array(other.utf8), Array(lines[1].utf8)] }
        == "the counts by name are others than in the catalogue")
    let person = lines[0].replacing("\"u1\"", with: "\"u2\"")
    #expect(
      try reasons { _ in [Array(person.utf8), Array(lines[1].utf8)] }
        == "the people are others than in the catalogue's index")
    let later = lines[0].replacing("12:00:01.000Z", with: "12:00:03.000Z")
    #expect(
      try reasons { _ in [Array(later.utf8), Array(lines[1].utf8)] }
        == "the times of its events are others than in the catalogue")
    let outside = lines[1].replacing("\"offset\":1", with: "\"offset\":5")
    #expect(
      try reasons { _ in [Array(lines[0].utf8), Array(outside.utf8)] }.contains(
        "outside its part's"))
    #expect(
      try reasons { _ in [Array(lines[0].utf8)] }.contains(
        "events: 1 in the file, 2 in the catalogue"))
    #expect(
      try reasons { _ in [Array("{}".utf8), Array(lines[1].utf8)] }.contains("no offset and epoch"))
  }

  @Test func `files that the catalogue does not know are listed and are no damage`() throws {
    let folder = parts[0].path.split(separator: "/").dropLast().joined(separator: "/")
    try Files.write([1], to: "\(archive.path)/\(folder)/.tmp-part-1-40-49.ndjson.zst")
    try Files.write([1], to: "\(archive.path)/notes.txt")
    let findings = try verify()
    #expect(findings.damageCount == 0)
    #expect(findings.strayFiles == ["\(folder)/.tmp-part-1-40-49.ndjson.zst", "notes.txt"])
  }

  @Test func `what a living process writes just now is no find, and what a dead one left is`()
    throws
  {
    let folder = parts[0].path.split(separator: "/").dropLast().joined(separator: "/")
    let open = "\(folder)/.tmp-part-1-40"
    let compacted = "\(folder)/.tmp-part-1-0-3-r1.ndjson.zst"
    for path in [open, compacted] { try Files.write([1], to: "\(archive.path)/\(path)") }
    #expect(try verify().strayFiles == [compacted, open])
    do {
      let archiver = try ArchiveLock(.archiver, of: archive.path)
      #expect(try verify().strayFiles == [compacted])
      let maintenance = try ArchiveLock(.maintenance, of: archive.path)
      #expect(try verify().strayFiles == [])
      _ = consume archiver
      _ = consume maintenance
    }
    #expect(try verify().strayFiles == [compacted, open])
    // Looking takes nothing from anybody.
    #expect(!ArchiveLock.isHeld(.archiver, of: archive.path))
  }
}
