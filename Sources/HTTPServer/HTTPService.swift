internal import CMicroHTTPD
internal import Primitives
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// What libmicrohttpd calls, on its own threads. It outlives the daemon.
final class HTTPService: Sendable {
  private let limits: HTTPLimits
  private let isTLS: Bool
  private let handler: HTTPServer.Handler
  private let room: BodyRoom
  private let streams: HTTPStreams
  let clock: ConnectionClock
  /// Requests that began and are not yet answered, or cut.
  private let underWay = Atomic(0)
  private let draining = Atomic(false)
  /// No connection may be put to sleep any longer.
  private let stopping = Atomic(false)
  /// Exchanges whose connections sleep.
  private let sleeping = Mutex<[ObjectIdentifier: Exchange]>([:])
  /// Signalled when the last request ends while draining.
  let drained: WakeSignal

  init(
    limits: HTTPLimits, isTLS: Bool, onFull: @escaping @Sendable (Int) -> Void,
    handler: @escaping HTTPServer.Handler
  ) throws(SystemError) {
    self.limits = limits
    self.isTLS = isTLS
    self.handler = handler
    room = BodyRoom(bytes: limits.allBodiesBytes)
    let streams = HTTPStreams(limit: limits.streams)
    let beat = Int64(limits.heartbeatSeconds) * 1_000_000_000
    self.streams = streams
    clock = try ConnectionClock(limits, onFull: onFull) { streams.beat(after: beat) }
    drained = try WakeSignal()
  }

  /// From now on every answer closes its connection, and streams end.
  func beginDraining() {
    draining.store(true, ordering: .sequentiallyConsistent)
    streams.end()
  }
  var isIdle: Bool { underWay.load(ordering: .sequentiallyConsistent) == 0 }

  /// Answers whatever still waits for its handler, now and from now on: the daemon must not be stopped
  /// with sleepers.
  func wakeSleepers() {
    stopping.store(true, ordering: .sequentiallyConsistent)
    for exchange in sleeping.withLock({ Array($0.values) }) { exchange.answer(Self.stopped) }
  }

  private static let stopped = HTTPResponse.refusal(503, "stopping", "the server is stopping")

  func begin(_ exchange: Exchange, on connection: OpaquePointer) -> MHD_Result {
    underWay.add(1, ordering: .sequentiallyConsistent)
    clock.begin(exchange.descriptor)
    // Refused at once, which closes the connection: otherwise it would have to take the body first.
    if exchange.path.utf8.count > limits.pathBytes {
      return unsafe refuse(
        exchange, .refusal(414, "path_too_long", "the path is too long"), on: connection)
    }
    if let fault = unsafe Self.framingFault(of: connection) {
      return unsafe refuse(exchange, fault, on: connection)
    }
    let declared = unsafe declaredLength(connection)
    if declared > limits.bodyBytes {
      clock.count { $0.tooLarge += 1 }
      return unsafe refuse(exchange, tooLarge, on: connection)
    }
    if declared > 0, !room.has(declared) {
      clock.count { $0.overloaded += 1 }
      return unsafe refuse(exchange, overloaded, on: connection)
    }
    // An answer now would close every connection; the next call comes when the headers are done.
    return .YES
  }

  func take(_ piece: UnsafeRawBufferPointer, of exchange: Exchange) -> Bool {
    if unsafe exchange.take(piece, into: room) { return true }
    // libmicrohttpd takes no answer in the middle of a body, so it is written past it. Within TLS it
    // cannot be; there the connection is only cut.
    clock.count { $0.tooLarge += 1 }
    if !isTLS {
      clock.linger(exchange.descriptor)
      writeRefusal(to: exchange.descriptor)
    }
    return false
  }

  /// The body is whole, or the answer has come.
  func proceed(_ exchange: Exchange, on connection: OpaquePointer) -> MHD_Result {
    switch exchange.nextStep() {
    case .handle: return unsafe handle(exchange, on: connection)
    case .send(let response):
      sleeping.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(exchange)) }
      return unsafe send(response, exchange, on: connection)
    case .wait: return .YES
    }
  }

  private func handle(_ exchange: Exchange, on connection: OpaquePointer) -> MHD_Result {
    if exchange.isTooLarge {
      clock.count { $0.tooLarge += 1 }
      return unsafe send(tooLarge, exchange, on: connection)
    }
    if exchange.isShed {
      clock.count { $0.overloaded += 1 }
      return unsafe send(overloaded, exchange, on: connection)
    }
    clock.pause(exchange.descriptor)
    unsafe handler(exchange.request(on: connection), HTTPResponder(exchange, self))
    sleeping.withLock { $0[ObjectIdentifier(exchange)] = exchange }
    // Looked at after it was noted: `wakeSleepers` finds it there, or it finds this.
    if stopping.load(ordering: .sequentiallyConsistent) { exchange.answer(Self.stopped) }
    guard let response = unsafe exchange.answerOrSuspend(connection) else { return .YES }
    sleeping.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(exchange)) }
    return unsafe send(response, exchange, on: connection)
  }

  func end(_ exchange: Exchange) {
    sleeping.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(exchange)) }
    if let stream = exchange.end(room) { streams.remove(stream) }
    clock.begin(exchange.descriptor)
    let left = underWay.subtract(1, ordering: .sequentiallyConsistent).newValue
    if left == 0, draining.load(ordering: .sequentiallyConsistent) { drained.signal() }
  }

  func exchange(
    method: String, path: String, descriptor: Int32, connection: UInt
  ) -> Exchange {
    Exchange(
      method: method, path: path, limit: limits.bodyBytes, descriptor: descriptor,
      connection: connection)
  }

  private var tooLarge: HTTPResponse {
    .refusal(413, "too_large", "the body may have \(limits.bodyBytes) bytes at most")
  }

  var counters: HTTPServerCounters {
    var counters = clock.counters
    counters.streams = streams.count
    return counters
  }

  /// Nil: there are too many, which the client was told.
  func stream(for exchange: Exchange) -> HTTPStream? {
    let stream = HTTPStream(
      connection: exchange.connection, descriptor: exchange.descriptor, clock: clock,
      limit: limits.streamMessageBytes)
    if streams.add(stream) { return stream }
    clock.count { $0.streamsRefused += 1 }
    var refusal = HTTPResponse.refusal(
      503, "too_many_streams", "too many streams at a time: come again later")
    refusal.headers = [HTTPRequest.Field("Retry-After", "10")]
    exchange.answer(refusal)
    return nil
  }

  func forget(_ stream: HTTPStream) { streams.remove(stream) }

  private var overloaded: HTTPResponse {
    var answer = HTTPResponse.refusal(
      503, "too_many_bodies", "too many bodies at a time: send it again")
    answer.headers = [HTTPRequest.Field("Retry-After", "1")]
    return answer
  }

  /// 0 when there is none; one that is no number was refused before it came here.
  private func declaredLength(_ connection: OpaquePointer) -> Int {
    guard
      let text = unsafe MHD_lookup_connection_value(connection, .HEADER_KIND, "Content-Length")
    else { return 0 }
    return Int(unsafe String(cString: text)) ?? 0
  }
}

extension HTTPService {
  /// Why nobody can be sure where the request ends (RFC 9112, 6.3): a proxy that reads it the other way
  /// would let one client put words into the mouth of the next.
  private static func framingFault(of connection: OpaquePointer) -> HTTPResponse? {
    let headers = unsafe Exchange.fields(of: connection, .HEADER_KIND)
    let lengths = headers.filter { sameHeader($0.name, "Content-Length") }
    if Set(lengths.map(\.value)).count > 1 {
      return .refusal(400, "bad_framing", "Content-Length is given twice, differently")
    }
    let encodings = headers.filter { sameHeader($0.name, "Transfer-Encoding") }
    if !encodings.isEmpty, !lengths.isEmpty {
      return .refusal(
        400, "bad_framing", "Content-Length and Transfer-Encoding exclude each other")
    }
    // libmicrohttpd would take such a body for one that ends with the connection, and wait.
    guard encodings.count <= 1, encodings.allSatisfy({ sameHeader($0.value, "chunked") }) else {
      return .refusal(501, "unsupported_encoding", "no Transfer-Encoding but chunked is known")
    }
    return nil
  }

  /// Answers before the body has come.
  private func refuse(
    _ exchange: Exchange, _ answer: HTTPResponse, on connection: OpaquePointer
  ) -> MHD_Result {
    clock.linger(exchange.descriptor)
    return unsafe send(answer, exchange, on: connection)
  }

  private func writeRefusal(to descriptor: Int32) {
    let text = String(decoding: tooLarge.body, as: UTF8.self)
    let bytes = Array(
      ("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Type: application/json\r\n"
        + "Content-Length: \(text.utf8.count)\r\n\r\n" + text).utf8)
    // A client that does not even take this is cut without it.
    _ = unsafe Glibc.send(
      descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
  }

  private func send(
    _ answer: HTTPResponse, _ exchange: Exchange, on connection: OpaquePointer
  ) -> MHD_Result {
    unsafe send(.whole(answer), exchange, on: connection)
  }

  private func send(
    _ answer: Exchange.Answer, _ exchange: Exchange, on connection: OpaquePointer
  ) -> MHD_Result {
    clock.begin(exchange.descriptor)
    switch answer {
    case .whole(let answer):
      return unsafe send(answer, Self.response(answer.body), on: connection)
    case .stream(let head, let stream):
      return unsafe send(head, Self.response(stream), on: connection)
    }
  }

  private func send(
    _ answer: HTTPResponse, _ response: OpaquePointer?, on connection: OpaquePointer
  ) -> MHD_Result {
    guard let response = unsafe response else { return .NO }
    defer { unsafe MHD_destroy_response(response) }
    var answer = answer
    if !answer.contentType.isEmpty {
      answer.headers.append(HTTPRequest.Field("Content-Type", answer.contentType))
    }
    if draining.load(ordering: .sequentiallyConsistent) {
      answer.headers.append(HTTPRequest.Field("Connection", "close"))
    }
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

  /// Its length is not known, so it goes in chunks. The response keeps the stream.
  private static func response(_ stream: HTTPStream) -> OpaquePointer? {
    let context = unsafe Unmanaged.passRetained(stream)
    let response = unsafe MHD_create_response_from_callback(
      .max, 8192, readStream, context.toOpaque(), freeStream)
    if unsafe response == nil { unsafe context.release() }
    return unsafe response
  }

  private static func response(_ body: [UInt8]) -> OpaquePointer? {
    unsafe body.withUnsafeBytes { bytes in
      unsafe MHD_create_response_from_buffer(
        bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
    }
  }
}
