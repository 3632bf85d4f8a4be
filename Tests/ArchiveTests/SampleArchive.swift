import BusProtocol
import Compression
import EventCodec
import Hashing
import Primitives
import SinkState
import TestSupport
import Testing

@testable import Archive

/// An archive that a test wrote: parts and a catalogue as the archiver makes them.
final class SampleArchive {
  let folder: TemporaryFolder
  var path: String { folder.path }
  /// Lines a frame has at most.
  var frameLines = 10
  private(set) var next: UInt64 = 0
  /// All lines, in order.
  private(set) var lines: [String] = []

  static let start: Int64 = 1_714_564_800_000_000_000  // 2024-05-01T12:00:00Z

  init() throws { folder = try TemporaryFolder() }

  /// An event as its client sent it: at `second` after the start.
  static func event(
    _ name: String, second: Int, user: String = "\"u1\"", properties: String = "{}"
  ) -> String {
    let time = Timestamp(nanoseconds: start + Int64(second) * 1_000_000_000).text
    return "{\"event\":\"\(name)\",\"userId\":\(user),\"timestamp\":\"\(time)\","
      + "\"properties\":\(properties)}"
  }

  /// Adds a part with these events, in frames of `frameLines`.
  @discardableResult
  func add(_ events: [String], epoch: UInt32 = 1, hour: Int = 0) throws -> Part {
    try add([events], epoch: epoch, hours: [hour])[0]
  }

  /// Adds parts in one transaction: each would cost several syncs of the disk.
  @discardableResult
  func add(_ groups: [[String]], epoch: UInt32 = 1, hours: [Int]? = nil) throws -> [Part] {
    let catalogue = try Catalogue(writing: path)
    var new: [NewPart] = []
    for (index, events) in groups.enumerated() {
      new.append(try write(events, epoch: epoch, hour: hours?[index] ?? 0, catalogue))
    }
    #expect(try catalogue.replace([], with: new))
    let paths = new.map(\.part.path)
    return try catalogue.parts().filter { paths.contains($0.path) }
  }

  private func write(
    _ events: [String], epoch: UInt32, hour: Int, _ catalogue: borrowing Catalogue
  ) throws -> NewPart {
    let first = next
    let hash = catalogue.hash
    var names: [[UInt8]: UInt64] = [:]
    var people: [UInt64] = []
    var timestamps: [Int64] = []
    var frames: [[UInt8]] = [[]]
    var raw = 0
    for event in events {
      let payload = try RandomEvents.payload(event)
      let line = try RandomEvents.line(payload, offset: next, epoch: epoch)
      lines.append(String(decoding: line, as: UTF8.self))
      if frames[frames.count - 1].count(where: { $0 == 0x0A }) == frameLines { frames.append([]) }
      frames[frames.count - 1] += line + [0x0A]
      raw += line.count + 1
      let reader = unsafe PayloadReader(payload.span.bytes)
      let topic = try reader.text("event") ?? "$" + (try reader.text("type") ?? "")
      names[Array(topic.utf8), default: 0] += 1
      timestamps.append(try reader.timestamp()?.nanoseconds ?? 0)
      let fields = try unsafe EventFields(reading: payload.span.bytes)
      for range in [fields.userId, fields.anonymousId, fields.previousId] {
        if let person = try unsafe PersonHash.hash(range, in: payload.span.bytes, by: hash) {
          people.append(person.high)
        }
      }
      next += 1
    }
    var file: [UInt8] = []
    var zstd = try ZstdFrameWriter()
    for frame in frames { try unsafe zstd.compress(frame.span.bytes, into: &file) }
    let time = Self.start + Int64(hour) * 3_600_000_000_000
    let name =
      ArchiveNames.folder(ofTime: time) + "/"
      + ArchiveNames.part(epoch: epoch, first: first, last: next - 1)
    try Files.write(file, to: path + "/" + name)
    let part = Part(
      path: name, epoch: epoch, first: first, last: next - 1, count: UInt64(events.count),
      bytes: UInt64(file.count), rawBytes: UInt64(raw),
      sha256: unsafe SHA256.digest(of: file.span.bytes),
      timestamps: timestamps.min()!...timestamps.max()!, times: time...time, created: time)
    return NewPart(
      part: part, names: names.map { NameCount(name: $0.key, count: $0.value) },
      people: PeopleIndex(people))
  }

  /// Puts one file in the place of some adjacent parts, as compaction does, and removes theirs.
  static func merge(_ old: [Part], revision: Int = 1, in path: String) throws {
    let catalogue = try Catalogue(writing: path)
    let listed = try catalogue.parts().filter { part in old.contains { $0.path == part.path } }
    var file: [UInt8] = []
    var new = NewPart(part: old[0], names: [], people: PeopleIndex())
    var names: [[UInt8]: UInt64] = [:]
    var people: [UInt64] = []
    for part in listed {
      file += try Files.read(path + "/" + part.path)
      for name in try catalogue.nameCounts(of: part) { names[name.name, default: 0] += name.count }
      people += try catalogue.people(of: part).hashes
      new.part.timestamps =
        min(
          new.part.timestamps.lowerBound, part.timestamps.lowerBound)...max(
          new.part.timestamps.upperBound, part.timestamps.upperBound)
    }
    let last = old[old.count - 1].last
    new.names = names.map { NameCount(name: $0.key, count: $0.value) }
    new.people = PeopleIndex(people)
    new.part.last = last
    new.part.count = listed.reduce(0) { $0 + $1.count }
    new.part.rawBytes = listed.reduce(0) { $0 + $1.rawBytes }
    new.part.path =
      old[0].path.split(separator: "/").dropLast().joined(separator: "/") + "/"
      + ArchiveNames.part(epoch: old[0].epoch, first: old[0].first, last: last, revision: revision)
    try put(file, as: new, inPlaceOf: listed, in: catalogue, path)
  }

  /// Changes the lines of the only part; catalogue and checksums agree with the change.
  func spoil(_ change: ([[UInt8]]) -> [[UInt8]]) throws {
    let catalogue = try Catalogue(writing: path)
    let old = try catalogue.parts()
    var reader = try PartReader(path, old[0])
    var content: [UInt8] = []
    var lines: [[UInt8]] = []
    while try reader.next(into: &content) {
      lines += content.split(separator: 0x0A).map { Array($0) }
    }
    lines = change(lines)
    let raw = Array(lines.map { $0 + [0x0A] }.joined())
    var file: [UInt8] = []
    var zstd = try ZstdFrameWriter()
    try unsafe zstd.compress(raw.span.bytes, into: &file)
    var new = NewPart(
      part: old[0], names: try catalogue.nameCounts(of: old[0]),
      people: try catalogue.people(of: old[0]))
    new.part.rawBytes = UInt64(raw.count)
    try Self.put(file, as: new, inPlaceOf: [old[0]], in: catalogue, path)
  }

  private static func put(
    _ file: [UInt8], as new: NewPart, inPlaceOf old: [Part], in catalogue: borrowing Catalogue,
    _ path: String
  ) throws {
    var new = new
    new.part.bytes = UInt64(file.count)
    new.part.sha256 = unsafe SHA256.digest(of: file.span.bytes)
    try Files.write(file, to: path + "/" + new.part.path)
    #expect(try catalogue.replace(old, with: [new]))
    for part in old where part.path != new.part.path {
      try Files.remove(path + "/" + part.path)
    }
  }
}

extension [[UInt8]] {
  func replacingLine(_ index: Int, by text: String) -> [[UInt8]] {
    enumerated().map { $0.offset == index ? [UInt8](text.utf8) : $0.element }
  }
}
