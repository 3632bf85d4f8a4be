import BusProtocol
import EventCodec
import EventModel
import Primitives
import Testing

@testable import Archive

@Suite struct DamageTests {
  let archive: SampleArchive
  let parts: [Part]

  /// Three parts of 20 events, in frames of 5.
  init() throws {
    let archive = try SampleArchive()
    archive.frameLines = 5
    self.archive = archive
    parts = try archive.add(
      (0..<3).map { part in
        (0..<20).map { SampleArchive.event("E", second: part * 20 + $0) }
      })
  }

  private func file(_ part: Int) -> String { archive.path + "/" + parts[part].path }

  private func read() throws -> (lines: [String], report: QueryReport) {
    var lines: [String] = []
    let report = try ArchiveQuery(archive.path).rows { row in
      lines.append(String(decoding: row.line.copied(), as: UTF8.self))
      return true
    }
    return (lines, report)
  }

  /// Where each frame of a part begins.
  private func frameStarts(_ bytes: [UInt8]) -> [Int] {
    (0..<bytes.count - 4).filter { Array(bytes[$0..<$0 + 4]) == [0x28, 0xB5, 0x2F, 0xFD] }
  }

  @Test(arguments: [1, 9, 200])
  func `a file that is cut gives what is before the cut and names it`(_ cut: Int) throws {
    let bytes = try Files.read(file(2))
    try Files.write(Array(bytes.dropLast(cut)), to: file(2))
    let (lines, report) = try read()
    let starts = frameStarts(bytes)
    #expect(starts.count == 4)
    let whole = cut == 200 ? lines.count - 40 : 15
    #expect(lines == Array(archive.lines.prefix(40 + whole)))
    let damage = try #require(report.damages.first)
    #expect(report.damageCount == 1 && damage.file == parts[2].path)
    #expect(damage.byte == UInt64(starts[whole / 5]))
    #expect(
      damage.lastGood == (whole == 0 ? nil : Position(epoch: 1, offset: UInt64(39 + whole))))
  }

  @Test func `a file that lost whole frames is as damaged as any`() throws {
    let starts = frameStarts(try Files.read(file(1)))
    try Files.write(Array(try Files.read(file(1)).prefix(starts[2])), to: file(1))
    let (lines, report) = try read()
    #expect(lines == Array(archive.lines[0..<30] + archive.lines[40..<60]))
    #expect(report.damages.map(\.byte) == [UInt64(starts[2])])
  }

  @Test(arguments: 0..<4)
  func `a damaged frame costs its own lines, and none before and behind it`(_ frame: Int) throws {
    var bytes = try Files.read(file(1))
    let starts = frameStarts(bytes) + [bytes.count]
    bytes[(starts[frame] + starts[frame + 1]) / 2] ^= 0x10
    try Files.write(bytes, to: file(1))
    let (lines, report) = try read()
    let lost = 20 + frame * 5..<25 + frame * 5
    #expect(lines == Array(archive.lines[..<lost.lowerBound] + archive.lines[lost.upperBound...]))
    #expect(report.damages.map(\.byte) == [UInt64(starts[frame])])
  }

  @Test func `a file that grew is read, and named`() throws {
    try Files.write(try Files.read(file(0)) + [1, 2, 3], to: file(0))
    let (lines, report) = try read()
    #expect(lines == archive.lines)
    #expect(report.damages.map(\.file) == [parts[0].path])
  }

  @Test func `a file that is lost is named, and the others are read`() throws {
    try Files.remove(file(1))
    let (lines, report) = try read()
    #expect(lines == Array(archive.lines[0..<20] + archive.lines[40..<60]))
    #expect(report.damages.map(\.file) == [parts[1].path])
  }

  @Test func `whatever byte is changed, nothing traps and nothing wrong is given`() throws {
    let bytes = try Files.read(file(0))
    let whole = archive.lines[..<20].map { $0 + "\n" }.joined()
    var damaged = 0
    for at in bytes.indices {
      var changed = bytes
      changed[at] ^= UInt8(truncatingIfNeeded: 1 << (at % 8))
      try Files.write(changed, to: file(0))
      let (text, damage) = try content(of: parts[0])
      // A frame's head has bits that mean nothing: then all is as it was.
      #expect(damage == nil ? text == whole : whole.hasPrefix(text), "byte \(at)")
      damaged += damage == nil ? 0 : 1
    }
    #expect(damaged > bytes.count * 97 / 100)
  }

  private func content(of part: Part) throws -> (String, PartDamage?) {
    var reader = try PartReader(archive.path, part)
    var text = ""
    var frame: [UInt8] = []
    do throws(PartDamage) {
      while try reader.next(into: &frame) { text += String(decoding: frame, as: UTF8.self) }
      return (text, nil)
    } catch {
      return (text, error)
    }
  }

  @Test func `a line that is no event is named and the others are given`() throws {
    let bad = try SampleArchive()
    try bad.add([SampleArchive.event("A", second: 1), SampleArchive.event("B", second: 2)])
    try bad.spoil { $0.replacingLine(0, by: "no event") }
    var lines: [String] = []
    let query = ArchiveQuery(bad.path)
    let report = try query.rows { row in
      lines.append(String(decoding: row.line.copied(), as: UTF8.self))
      return true
    }
    #expect(lines == [bad.lines[1]])
    #expect(report.damageCount == 1)
  }
}
