internal import CMicroHTTPD
internal import Primitives
internal import Synchronization

/// What libmicrohttpd calls, on its own thread. It outlives the daemon.
final class HTTPService: Sendable {
  private let limits: HTTPLimits
  private let handler: HTTPRoutes.Handler
  /// Requests that began and are not yet answered, or cut.
  private let underWay = Atomic(0)
  private let draining = Atomic(false)
  /// Signalled when the last request ends while draining.
  let drained: WakeSignal

  init(limits: HTTPLimits, handler: @escaping HTTPRoutes.Handler) throws(SystemError) {
    self.limits = limits
    self.handler = handler
    drained = try WakeSignal()
  }

  /// From now on every answer closes its connection.
  func beginDraining() { draining.store(true, ordering: .sequentiallyConsistent) }
  var isIdle: Bool { underWay.load(ordering: .sequentiallyConsistent) == 0 }

  func begin(_ exchange: Exchange, on connection: OpaquePointer) -> MHD_Result {
    underWay.add(1, ordering: .sequentiallyConsistent)
    // Refused at once, which closes the connection: otherwise it would have to take the body first.
    if exchange.path.utf8.count > limits.pathBytes {
      return unsafe send(.text("the path is too long\n", status: 414), on: connection)
    }
    if unsafe declaredLength(connection) > limits.bodyBytes {
      return unsafe send(tooLarge, on: connection)
    }
    // An answer now would close every connection; the next call comes when the headers are done.
    return .YES
  }

  func answer(_ exchange: Exchange, on connection: OpaquePointer) -> MHD_Result {
    guard !exchange.isTooLarge else { return unsafe send(tooLarge, on: connection) }
    return unsafe send(handler(exchange.request(on: connection)), on: connection)
  }

  func end() {
    let left = underWay.subtract(1, ordering: .sequentiallyConsistent).newValue
    if left == 0, draining.load(ordering: .sequentiallyConsistent) { drained.signal() }
  }

  func exchange(method: String, path: String) -> Exchange {
    Exchange(method: method, path: path, limit: limits.bodyBytes)
  }

  private var tooLarge: HTTPResponse {
    .text("the body may have \(limits.bodyBytes) bytes at most\n", status: 413)
  }

  /// 0 when there is none; one that is no number was refused before it came here.
  private func declaredLength(_ connection: OpaquePointer) -> Int {
    guard
      let text = unsafe MHD_lookup_connection_value(connection, .HEADER_KIND, "Content-Length")
    else { return 0 }
    return Int(unsafe String(cString: text)) ?? 0
  }

  private func send(_ answer: HTTPResponse, on connection: OpaquePointer) -> MHD_Result {
    var answer = answer
    if !answer.contentType.isEmpty {
      answer.headers.append(HTTPRequest.Field("Content-Type", answer.contentType))
    }
    if draining.load(ordering: .sequentiallyConsistent) {
      answer.headers.append(HTTPRequest.Field("Connection", "close"))
    }
    guard let response = unsafe Self.response(answer.body) else { return .NO }
    defer { unsafe MHD_destroy_response(response) }
    for header in answer.headers
    where unsafe MHD_add_response_header(response, header.name, header.value) == .NO {
      return unsafe Self.sendFailure(on: connection)
    }
    return unsafe MHD_queue_response(connection, answer.status, response)
  }

  /// In place of an answer whose headers cannot be sent.
  private static func sendFailure(on connection: OpaquePointer) -> MHD_Result {
    guard let response = unsafe response([]) else { return .NO }
    defer { unsafe MHD_destroy_response(response) }
    return unsafe MHD_queue_response(connection, 500, response)
  }

  private static func response(_ body: [UInt8]) -> OpaquePointer? {
    unsafe body.withUnsafeBytes { bytes in
      unsafe MHD_create_response_from_buffer(
        bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
    }
  }
}
