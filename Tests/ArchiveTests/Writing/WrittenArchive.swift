import BusProtocol
import Compression
import EventCodec
import EventModel
import Hashing
import Primitives
import SinkState
import TestSupport
import Testing

@testable import Archive

/// An archive in a folder of its own, and what came into it.
struct WrittenArchive {
  let folder: TemporaryFolder
  var configuration: ArchiverConfiguration

  init() throws {
    folder = try TemporaryFolder()
    configuration = ArchiverConfiguration(
      directory: folder.file("archive"), address: "tcp://127.0.0.1:1")
  }

  var directory: String { configuration.directory }

  func open() throws -> ArchiveWriter { try ArchiveWriter(configuration) }

  /// A new archive that begins at the first offset of epoch 1.
  func begin() throws -> ArchiveWriter {
    var writer = try open()
    try writer.begin(at: Position(epoch: 1, offset: 0), seekGeneration: 0)
    return writer
  }

  /// The lines of all parts in their order; each part is held to what the catalogue says about it.
  func lines() throws -> [String] {
    let catalogue = try Catalogue(reading: directory)
    var lines: [String] = []
    for part in try catalogue.parts() {
      let file = try fileBytes("\(directory)/\(part.path)")
      #expect(unsafe SHA256.digest(of: file.span.bytes) == part.sha256)
      #expect(file.count == Int(part.bytes))
      let content = try decompressed(file)
      #expect(content.count == Int(part.rawBytes))
      let own = content.split(separator: UInt8(ascii: "\n"))
        .map { String(decoding: $0, as: UTF8.self) }
      #expect(own.count == Int(part.count))
      #expect(try catalogue.nameCounts(of: part).reduce(0) { $0 + $1.count } == part.count)
      #expect(own.first?.hasSuffix(",\"offset\":\(part.first),\"epoch\":\(part.epoch)}") == true)
      #expect(own.last?.hasSuffix(",\"offset\":\(part.last),\"epoch\":\(part.epoch)}") == true)
      lines += own
    }
    return lines
  }

  /// The offsets of all lines, in the order of the parts.
  func offsets() throws -> [UInt64] {
    try lines().map { line in
      let text = line.split(separator: ",").first { $0.hasPrefix("\"offset\":") }
      return try #require(text.flatMap { UInt64($0.dropFirst(9)) })
    }
  }

  func parts() throws -> [Part] { try Catalogue(reading: directory).parts() }

  private func decompressed(_ file: [UInt8]) throws -> [UInt8] {
    var reader = try ZstdFrameReader()
    var content: [UInt8] = []
    var at = 0
    while at < file.count {
      at = try unsafe reader.read(file.span.bytes, at: at, into: &content, limit: 1 << 30)
    }
    return content
  }
}

/// An event as a test gives it to the archiver.
struct GivenEvent: Sendable {
  var offset: UInt64
  var epoch: UInt32 = 1
  var name = "Sold"
  /// Nil: one of its own.
  var messageId: String?
  var userId: String?
  var value: Int64 = 0
  var timestamp: Int64 = 1_700_000_000_000_000_000
  /// Journal time.
  var time: Int64 = 1_764_500_000_000_000_000
  var isAddressed = false

  var payload: [UInt8] {
    var envelope = EventEnvelope(EventType(rawValue: name), properties: ["value": .int(value)])
    envelope.messageId = messageId ?? "m-\(epoch)-\(offset)"
    envelope.userId = userId
    envelope.timestamp = Timestamp(nanoseconds: timestamp)
    var bytes: [UInt8] = []
    envelope.appendPayload(to: &bytes)
    return bytes
  }

  var place: EventPlace {
    EventPlace(
      position: Position(epoch: epoch, offset: offset), time: time, isAddressed: isAddressed)
  }
}

extension ArchiveWriter {
  /// Takes an event and moves the cursor behind it.
  mutating func take(_ event: GivenEvent) throws {
    let (payload, name) = (event.payload, Array(event.name.utf8))
    try unsafe take(event.place, name: name.span.bytes, payload: payload.span.bytes)
    advance(to: Position(epoch: event.epoch, offset: event.offset + 1))
  }
}
