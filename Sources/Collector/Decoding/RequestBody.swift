internal import Compression
internal import HTTPServer
internal import Primitives

/// The bytes of a request as its sender meant them: unpacked, without a byte-order mark.
struct RequestBody {
  /// Why they cannot be had, with the status that says so.
  struct Failure: Error, Hashable {
    var status: UInt32
    var code: String
    var reason: String
  }

  /// - Parameter limit: bytes that the body may have when it is unpacked; what came over the network
  ///   was counted by the server.
  static func bytes(
    of request: HTTPRequest, limit: Int
  ) throws(Failure) -> [UInt8] {
    var bytes = try unpacked(request, limit: limit)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
    if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
      throw Failure(
        status: 400, code: "wrong_encoding", reason: "the body is UTF-16; send it as UTF-8")
    }
    return bytes
  }

  private static func unpacked(
    _ request: HTTPRequest, limit: Int
  ) throws(Failure) -> [UInt8] {
    switch request.header("Content-Encoding")?.lowercased() {
    case nil, "", "identity": return request.body
    case "gzip", "x-gzip": return try gunzip(request.body, limit: limit)
    case let other?:
      throw Failure(
        status: 415, code: "unsupported_encoding",
        reason: "Content-Encoding \(other.prefix(50)) is not known; send gzip or nothing")
    }
  }

  private static func gunzip(_ packed: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    do throws(CompressionError) {
      var stream = try GunzipStream()
      try unsafe stream.read(packed.span.bytes, into: &bytes, limit: limit)
      try stream.finish()
    } catch {
      if case .limit = error {
        throw Failure(
          status: 413, code: "too_large",
          reason: "the body may have \(limit) bytes at most, also when it is unpacked")
      }
      throw Failure(status: 400, code: "bad_gzip", reason: "the body is not whole gzip: \(error)")
    }
    return bytes
  }
}
