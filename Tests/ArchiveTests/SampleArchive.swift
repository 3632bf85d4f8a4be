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
  func add(
    _ events: [String], epoch: UInt32 = 1, hour: Int = 0
  ) throws -> Part {
    let catalogue = try Catalogue(writing: path)
    let part = try write(events, epoch: epoch, hour: hour, catalogue)
    #expect(try catalogue.replace([], with: [part]))
    return try catalogue.parts().first { $0.path == part.part.path } ?? part.part
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
}
