import BusProtocol
import Compression
import Database
import EventCodec
import Hashing
import Primitives
import SinkState
import Testing

@testable import Archive

extension SampleArchive {
  /// Enters a request, as the archiver does when it meets `$forget` at this offset.
  func request(_ ids: String..., at offset: UInt64, epoch: UInt32 = 1) throws {
    let catalogue = try Catalogue(writing: path)
    let entries = try ids.map { id in
      ForgottenPeople.Entry(
        person: try #require(PersonHash.hash(id, by: catalogue.hash)),
        place: Position(epoch: epoch, offset: offset), time: 99)
    }
    try catalogue.database.transaction { () throws(DatabaseError) in
      try catalogue.request(entries)
    }
  }

  /// Works until the rewriter has nothing more to do; returns how that ended.
  @discardableResult
  func forget(_ rewriter: inout ForgetRewriter) throws -> ForgetRewriter.Step {
    let catalogue = try Catalogue(writing: path)
    var last = ForgetRewriter.Step.idle
    for _ in 0..<1000 {
      let step = try rewriter.step(catalogue, at: 1000)
      switch step {
      case .worked: continue
      case .finished: last = step
      case .idle: return last
      case .blocked: return step
      }
    }
    Issue.record("it does not come to an end")
    return last
  }

  @discardableResult
  func forget() throws -> ForgetRewriter.Step {
    var rewriter = ForgetRewriter()
    return try forget(&rewriter)
  }

  /// What a reader gets.
  func stored() throws -> [String] {
    var lines: [String] = []
    let report = try ArchiveQuery(path).rows { row in
      lines.append(String(decoding: row.line.copied(), as: UTF8.self))
      return true
    }
    #expect(report.damageCount == 0)
    return lines
  }

  /// The files that hold a text, packed or not.
  func files(holding text: String) throws -> [String] {
    let needle = Array(text.utf8)
    return try Files.list(path).filter { name in
      guard !FileSystem.isFolder("\(path)/\(name)") else { return false }
      var bytes = try Files.read("\(path)/\(name)")
      if name.hasSuffix(".zst") { bytes = try Self.unpacked(bytes) }
      return bytes.holds(needle)
    }
  }

  private static func unpacked(_ file: [UInt8]) throws -> [UInt8] {
    var reader = try ZstdFrameReader()
    var content: [UInt8] = []
    var at = 0
    while at < file.count {
      at = try unsafe reader.read(file.span.bytes, at: at, into: &content, limit: 1 << 30)
    }
    return content
  }

  /// What the catalogue says of each part is what its file has.
  func expectAccountsRight() throws {
    let catalogue = try Catalogue(reading: path)
    for part in try catalogue.parts() {
      let file = try Files.read("\(path)/\(part.path)")
      #expect(unsafe SHA256.digest(of: file.span.bytes) == part.sha256)
      #expect(file.count == Int(part.bytes))
      let content = try Self.unpacked(file)
      #expect(content.count == Int(part.rawBytes))
      let lines = content.split(separator: 0x0A)
      #expect(lines.count == Int(part.count))
      var (names, people, times): ([[UInt8]: UInt64], [UInt64], [Int64]) = ([:], [], [])
      for line in lines {
        var reader = ReplayReader(archive: catalogue.key)
        _ = try unsafe reader.read(Array(line).span.bytes)
        names[reader.topic, default: 0] += 1
        let fields = try unsafe EventFields(reading: reader.payload.span.bytes)
        times.append(fields.timestamp)
        for range in [fields.userId, fields.anonymousId, fields.previousId] {
          let person = try unsafe PersonHash.hash(
            range, in: reader.payload.span.bytes, by: catalogue.hash)
          if let person { people.append(person.high) }
        }
      }
      let counts = try catalogue.nameCounts(of: part)
      #expect(Dictionary(uniqueKeysWithValues: counts.map { ($0.name, $0.count) }) == names)
      #expect(try catalogue.people(of: part) == PeopleIndex(people))
      #expect(
        times.min() == part.timestamps.lowerBound && times.max() == part.timestamps.upperBound)
      #expect(lines.first.map { Self.ends($0, part.first, part.epoch) } == true)
      #expect(lines.last.map { Self.ends($0, part.last, part.epoch) } == true)
    }
  }

  private static func ends(_ line: ArraySlice<UInt8>, _ offset: UInt64, _ epoch: UInt32) -> Bool {
    String(decoding: line, as: UTF8.self).hasSuffix(",\"offset\":\(offset),\"epoch\":\(epoch)}")
  }
}

extension [UInt8] {
  func holds(_ part: [UInt8]) -> Bool {
    guard count >= part.count else { return false }
    return (0...(count - part.count)).contains { self[$0...].starts(with: part) }
  }
}
