internal import Compression
internal import HTTPClient
internal import Primitives

/// Bodies of requests that carry a list of items.
enum RequestBody {
  /// `head`, the items with commas between them, `tail`.
  static func joined(_ head: String, _ items: [[UInt8]], _ tail: String) -> [UInt8] {
    var body: [UInt8] = []
    body.reserveCapacity(
      items.reduce(head.utf8.count + tail.utf8.count + items.count) { $0 + $1.count })
    body.append(contentsOf: head.utf8)
    for (index, item) in items.enumerated() {
      if index > 0 { body.append(UInt8(ascii: ",")) }
      body.append(contentsOf: item)
    }
    body.append(contentsOf: tail.utf8)
    return body
  }

  /// The body and the header that says how it is packed. Level 0 sends it as it is; so does a zlib
  /// that has no memory, since every provider takes both.
  static func packed(_ body: [UInt8], level: Int32) -> (body: [UInt8], headers: [HTTPHeader]) {
    guard level > 0 else { return (body, []) }
    var packed: [UInt8] = []
    do throws(CompressionError) {
      try unsafe Gzip.compress(body.span.bytes, level: level, into: &packed)
    } catch { return (body, []) }
    return (packed, [HTTPHeader("Content-Encoding", "gzip")])
  }
}
