public import Compression

extension StubAnswer {
  /// An answer that is short on its way and unpacks to `zeros` bytes.
  public static func zipped(zeros: Int) throws(CompressionError) -> StubAnswer {
    let bytes = [UInt8](repeating: 0, count: zeros)
    var body: [UInt8] = []
    try unsafe Gzip.compress(bytes.span.bytes, level: 9, into: &body)
    return StubAnswer(headers: [("Content-Encoding", "gzip")], body: body)
  }
}
