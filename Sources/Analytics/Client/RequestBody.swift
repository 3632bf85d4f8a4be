internal import Gzip
internal import Primitives

/// One POST: a JSON list of events, each with the time of this attempt as its last field.
enum RequestBody {
  /// What `sentAt` and a comma add to each event.
  static let addedBytes = 40

  static func json(_ events: [QueuedEvent], sentAt: Timestamp) -> [UInt8] {
    let sent = Array(",\"sentAt\":\"\(sentAt.milliseconds.text)\"}".utf8)
    var body: [UInt8] = []
    body.reserveCapacity(events.reduce(2) { $0 + $1.body.count + addedBytes })
    body.append(UInt8(ascii: "["))
    for (index, event) in events.enumerated() {
      if index > 0 { body.append(UInt8(ascii: ",")) }
      body += event.body.dropLast()
      body += sent
    }
    body.append(UInt8(ascii: "]"))
    return body
  }

  /// Compressed, or nil where that is not wanted or does not work.
  static func compressed(_ body: [UInt8], from size: Int?) -> [UInt8]? {
    guard let size, body.count >= size else { return nil }
    var packed: [UInt8] = []
    do throws(CompressionError) {
      try unsafe Gzip.compress(body.span.bytes, into: &packed)
    } catch {
      // No memory for it: larger is better than not at all.
      return nil
    }
    return packed
  }
}

extension Timestamp {
  /// Whole milliseconds, as a request's times are written.
  var milliseconds: Timestamp { Timestamp(nanoseconds: nanoseconds / 1_000_000 * 1_000_000) }
}
