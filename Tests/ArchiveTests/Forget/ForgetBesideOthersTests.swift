import BusProtocol
import Primitives
import Testing

@testable import Archive

/// The rewriter beside readers, a compaction, and damage.
struct ForgetBesideOthersTests {
  private static func archive() throws -> SampleArchive {
    let archive = try SampleArchive()
    for part in 0..<3 {
      try archive.add(
        (0..<30).map {
          SampleArchive.event("A", second: $0, user: "\"user-\($0 % 10)\"")
        }, hour: part)
    }
    return archive
  }

  private static func others(_ lines: [String]) -> [String] {
    lines.filter { !$0.contains("\"user-7\"") }
  }

  @Test func `a reader gets every event that stays once while parts are written anew`() throws {
    let archive = try Self.archive()
    try archive.request("user-7", at: 1000)
    var rewriter = ForgetRewriter()
    let catalogue = try Catalogue(writing: archive.path)
    var lines: [String] = []
    let report = try ArchiveQuery(archive.path).rows { row in
      lines.append(String(decoding: row.line.copied(), as: UTF8.self))
      if lines.count % 10 == 0 {
        do { _ = try rewriter.step(catalogue, at: 1) } catch { Issue.record(error) }
      }
      return true
    }
    #expect(report.damageCount == 0)
    #expect(Self.others(lines) == Self.others(archive.lines))
    #expect(try archive.forget(&rewriter) == .idle || archive.files(holding: "user-7") == [])
  }

  @Test func `what a compaction put elsewhere meanwhile is found there`() throws {
    let archive = try Self.archive()
    try archive.request("user-7", at: 1000)
    var rewriter = ForgetRewriter()
    var hasMoved = false
    rewriter.onStep = { step throws(ArchiveError) in
      guard step == .published, !hasMoved else { return }
      hasMoved = true
      let catalogue = try Catalogue(writing: archive.path)
      guard let part = try catalogue.parts().first else { return }
      var moved = part
      moved.path = part.path.replacing(".ndjson", with: "-r9.ndjson")
      do throws(SystemError) {
        try FileSystem.move("\(archive.path)/\(part.path)", to: "\(archive.path)/\(moved.path)")
      } catch { throw ArchiveError(error) }
      let new = NewPart(
        part: moved, names: try catalogue.nameCounts(of: part),
        people: try catalogue.people(of: part))
      #expect(try catalogue.replace([part], with: [new]))
    }
    #expect(try archive.forget(&rewriter) == .finished(requests: 1))
    #expect(hasMoved)
    #expect(try archive.stored() == Self.others(archive.lines))
    #expect(try archive.files(holding: "user-7") == [])
    try archive.expectAccountsRight()
  }

  @Test func `a damaged part keeps the request open and stays as it is`() throws {
    let archive = try Self.archive()
    let part = try #require(try Catalogue(reading: archive.path).parts().dropFirst().first)
    let path = "\(archive.path)/\(part.path)"
    let whole = try Files.read(path)
    var broken = whole
    broken[broken.count / 2] ^= 0x10
    try Files.write(broken, to: path)
    try archive.request("user-7", at: 1000)
    var rewriter = ForgetRewriter()
    guard case .blocked(let damages) = try archive.forget(&rewriter) else {
      Issue.record("it is not blocked")
      return
    }
    #expect(damages.map(\.file) == [part.path])
    #expect(try Files.read(path) == broken)
    let erasure = try #require(try Catalogue(reading: archive.path).erasures().first)
    #expect((erasure.events, erasure.finished) == (6, nil))
    // Mended, a new run comes to the end.
    try Files.write(whole, to: path)
    #expect(try archive.forget() == .finished(requests: 1))
    #expect(try archive.stored() == Self.others(archive.lines))
  }

  @Test func `the archiver erases between batches, its open part unharmed`() throws {
    let archive = try WrittenArchive()
    var writer = try archive.begin()
    for offset in 0..<10 as Range<UInt64> {
      try writer.take(GivenEvent(offset: offset, userId: offset % 2 == 0 ? "anna" : "bert"))
    }
    try writer.commit()
    try writer.take(GivenEvent(offset: 10, name: "$forget", userId: "anna"))
    try writer.commit()
    try writer.take(GivenEvent(offset: 11, userId: "anna"))
    #expect(writer.forgetting.isDue(at: 0))
    // What a killed compaction left.
    let part = try #require(try archive.parts().first)
    let left = "\(archive.directory)/\(part.path.replacing(".ndjson", with: "-r3.ndjson"))"
    try writeFile(left, try fileBytes("\(archive.directory)/\(part.path)"))
    while writer.forgetting.isDue(at: .max) { try writer.forget() }
    #expect(!FileSystem.exists(left))
    #expect(try archive.offsets() == [1, 3, 5, 7, 9])
    try writer.commit()
    #expect(try archive.offsets() == [1, 3, 5, 7, 9, 11])
    #expect(try writer.catalogue.erasures().map(\.events) == [5])
  }

  @Test func `while another process replaces parts the archiver waits`() throws {
    let archive = try WrittenArchive()
    var writer = try archive.begin()
    try writer.take(GivenEvent(offset: 0, userId: "anna"))
    try writer.take(GivenEvent(offset: 1, name: "$forget", userId: "anna"))
    try writer.commit()
    let lock = try ArchiveLock(.maintenance, of: archive.directory)
    try writer.forget()
    #expect(!writer.forgetting.isDue(at: SystemClock.monotonic()))
    #expect(writer.forgetting.isDue(at: SystemClock.monotonic() + 1_000_000_000))
    #expect(try archive.offsets() == [0])
    _ = consume lock
    while writer.forgetting.isDue(at: .max) { try writer.forget() }
    #expect(try archive.offsets() == [])
  }
}
