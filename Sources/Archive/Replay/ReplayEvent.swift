public import BusProtocol
public import EventCodec
internal import EventModel
internal import Primitives

/// Makes events of an archive's lines again, as they were published: same `messageId`, times and
/// properties, `receivedAt` kept; only the archive's own `offset` and `epoch` go.
///
/// Keeps its buffers from line to line; one owner.
public struct ReplayReader: Sendable {
  /// JSON can take six times the bytes of the event, and the archive may be of a broker with other
  /// limits. What is too large for this one the producer refuses.
  private static let limits = CodecLimits(eventBytes: 16 << 20, depth: 62)

  private static let noTime = Int64.min

  private var times = LineScanner(LinePaths(["timestamp", "originalTimestamp", "timestampFlag"]))
  private var json = JSONEventReader(limits: limits)
  private var text: [UInt8] = []
  public private(set) var payload: [UInt8] = []
  public private(set) var topic: [UInt8] = []
  private let key: UInt64

  /// - Parameter archive: `Catalogue.key`, for the ids of events that have none.
  public init(archive: [UInt8]) {
    key = archive.reduce(0) { ($0 &* 0x100_0000_01B3) ^ UInt64($1) }
  }

  /// Reads one line, without its newline, into `topic` and `payload`.
  ///
  /// - Throws: `CodecError` for what is no event of an archive.
  public mutating func read(_ line: RawSpan) throws(CodecError) -> Position {
    guard let position = unsafe line.withUnsafeBytes({ unsafe LineTail.position($0) }) else {
      throw CodecError(.syntax, at: line.byteCount, "the line does not end with offset and epoch")
    }
    // The archive writes numbers without zeros before them, so their texts say where they begin.
    let tail = ",\"offset\":\(position.offset),\"epoch\":\(position.epoch)}".utf8.count
    text.removeAll(keepingCapacity: true)
    text.append(line.extracting(0..<line.byteCount - tail))
    text.append(UInt8(ascii: "}"))
    payload.removeAll(keepingCapacity: true)
    topic = try Self.read(&json, text, id: messageId(of: position), into: &payload)
    if try hasNoTime { try restoreTime() }
    return position
  }

  /// Whether the reader could not take the event's time: one before 1971, which only a program that
  /// encodes its events itself can have published.
  private var hasNoTime: Bool {
    get throws(CodecError) {
      do throws(MessagePackError) {
        return try unsafe PayloadReader(payload.span.bytes).timestamp()?.nanoseconds == Self.noTime
      } catch {
        throw CodecError(.syntax, at: error.position, "\(error)")
      }
    }
  }

  private mutating func restoreTime() throws(CodecError) {
    let line = text
    let isReadable = unsafe line.span.bytes.withUnsafeBytes { unsafe times.scan($0) }
    let found = times.found
    let time = unsafe line.span.bytes.extracting(found[0]).withUnsafeBytes {
      unsafe LineTime.nanoseconds($0)
    }
    guard isReadable, let time else {
      throw CodecError(.fieldType, at: found[0].lowerBound, "timestamp")
    }
    var envelope = try unsafe EventEnvelope(payload: payload.span.bytes)
    envelope.timestamp = Timestamp(nanoseconds: time)
    // What the reader has added about a time that it could not take.
    if found[1].isEmpty { envelope.originalTimestamp = nil }
    if found[2].isEmpty { envelope[.timestampFlag] = nil }
    payload.removeAll(keepingCapacity: true)
    envelope.appendPayload(to: &payload)
  }

  /// Static, since the text is read while the payload is written.
  private static func read(
    _ json: inout JSONEventReader, _ text: [UInt8], id: UUIDv7, into payload: inout [UInt8]
  ) throws(CodecError) -> [UInt8] {
    try unsafe json.read(text.span.bytes, received: noTime, id: id, into: &payload)
  }

  /// Of an event without one: a UUID of version 8, by archive and position, so that a repeated replay
  /// sends the same.
  private func messageId(of position: Position) -> UUIDv7 {
    let place = UInt64(position.epoch) << 32 ^ position.offset
    return UUIDv7(high: key & ~0xF000 | 0x8000, low: place & ~(3 << 62) | 2 << 62)
  }
}
