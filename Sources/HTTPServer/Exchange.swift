internal import CMicroHTTPD

/// One request on its way in: made at the handler's first call, answered at its last. libmicrohttpd
/// keeps it as the request's context, and one thread at a time uses it.
final class Exchange {
  let method: String
  let path: String
  private(set) var body: [UInt8] = []
  /// All bytes of the body that arrived, also those that were thrown away.
  private(set) var received = 0
  private let limit: Int

  init(method: String, path: String, limit: Int) {
    self.method = method
    self.path = path
    self.limit = limit
  }

  var isTooLarge: Bool { received > limit }

  /// Takes a piece of the body. False: so far beyond the limit that the connection is to be cut.
  ///
  /// A body beyond the limit is read to its end and forgotten, since a refusal in the middle would be
  /// lost when the client only reads after sending. But nobody may send for ever: twice the limit, and
  /// at least 64 KiB, is the end of it.
  func take(_ piece: UnsafeRawBufferPointer) -> Bool {
    received += piece.count
    if isTooLarge {
      body = []
    } else {
      unsafe body.append(contentsOf: piece)
    }
    return received <= max(2 * limit, 65536)
  }

  func request(on connection: OpaquePointer) -> HTTPRequest {
    HTTPRequest(
      method: method, path: path,
      query: unsafe Self.fields(of: connection, .GET_ARGUMENT_KIND),
      headers: unsafe Self.fields(of: connection, .HEADER_KIND), body: body)
  }

  private static func fields(
    of connection: OpaquePointer, _ kind: MHD_ValueKind
  ) -> [HTTPRequest.Field] {
    var fields: [HTTPRequest.Field] = []
    unsafe withUnsafeMutablePointer(to: &fields) { pointer in
      _ = unsafe MHD_get_connection_values(connection, kind, collect, pointer)
    }
    return fields
  }
}

private func collect(
  _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
  _ value: UnsafePointer<CChar>?
) -> MHD_Result {
  guard let context = unsafe context, let name = unsafe name else { return .YES }
  let text = unsafe value.map { unsafe String(cString: $0) } ?? ""
  unsafe context.assumingMemoryBound(to: [HTTPRequest.Field].self).pointee
    .append(HTTPRequest.Field(String(cString: name), text))
  return .YES
}
