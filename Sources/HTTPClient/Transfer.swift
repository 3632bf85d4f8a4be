internal import CCurl
internal import Primitives

/// One request under way: curl's handle for it, and what has come of the answer.
///
/// Curl keeps its address, as the context of the callbacks below; the client keeps it alive until `end`.
@safe final class Transfer {
  let id: HTTPClient.CallID
  let host: String
  let configuration: HTTPClientConfiguration
  private let easy: UnsafeMutableRawPointer
  private var headers: UnsafeMutablePointer<curl_slist>?
  private let errorText: UnsafeMutablePointer<CChar>
  fileprivate var buffer: ReplyBuffer

  init(
    _ id: HTTPClient.CallID, _ call: HTTPCall, host: String,
    _ configuration: HTTPClientConfiguration
  ) throws(HTTPFailure) {
    guard let easy = unsafe curl_easy_init() else {
      throw HTTPFailure(.request, host: host, "libcurl has no memory for a request")
    }
    self.id = id
    self.host = host
    self.configuration = configuration
    unsafe self.easy = easy
    unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    buffer = ReplyBuffer(configuration)
    try setLimits()
    try setAnswer()
    try setRequest(call)
  }

  deinit {
    unsafe curl_easy_cleanup(easy)
    unsafe curl_slist_free_all(headers)
    unsafe errorText.deallocate()
  }

  func begin(_ multi: UnsafeMutableRawPointer) throws(HTTPFailure) {
    guard unsafe curl_multi_add_handle(multi, easy) == CURLM_OK else {
      throw HTTPFailure(.request, host: host, "libcurl cannot take another request")
    }
  }

  /// Takes it out of `multi`; a connection in the middle of an answer is closed.
  func end(_ multi: UnsafeMutableRawPointer) { _ = unsafe curl_multi_remove_handle(multi, easy) }

  static func of(_ easy: UnsafeMutableRawPointer?) -> Transfer? {
    guard let easy = unsafe easy else { return nil }
    var pointer: UnsafeMutableRawPointer?
    guard unsafe eb_curl_get_pointer(easy, CURLINFO_PRIVATE, &pointer) == CURLE_OK else {
      return nil
    }
    return unsafe pointer.map {
      unsafe Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue()
    }
  }

  func completion(_ code: CURLcode) -> HTTPCompletion {
    let duration = Duration.microseconds(number(CURLINFO_TOTAL_TIME_T))
    let result: Result<HTTPReply, HTTPFailure> =
      if code == CURLE_OK, let reply = buffer.reply {
        .success(reply)
      } else {
        .failure(failure(code))
      }
    return HTTPCompletion(
      id: id, result: result, duration: duration,
      reusedConnection: count(CURLINFO_NUM_CONNECTS) == 0)
  }

  private func failure(_ code: CURLcode) -> HTTPFailure {
    var failure = CurlResult(
      code: code, text: unsafe String(cString: errorText), overflow: buffer.overflow,
      isConnected: number(CURLINFO_PRETRANSFER_TIME_T) > 0, configuration: configuration
    ).failure(host: host)
    failure.partial = buffer.reply
    failure.mayHaveArrived = count(CURLINFO_REQUEST_SIZE) > 0
    return failure
  }

  private func count(_ info: CURLINFO) -> Int {
    var value = 0
    _ = unsafe eb_curl_get_long(easy, info, &value)
    return value
  }

  private func number(_ info: CURLINFO) -> Int64 {
    var value: curl_off_t = 0
    _ = unsafe eb_curl_get_off(easy, info, &value)
    return Int64(value)
  }
}

// Options. Each setting passes one of the three funnels at the end.
extension Transfer {
  private func setLimits() throws(HTTPFailure) {
    // Without signals a name that takes long cannot end the process; resolving has a thread of its own,
    // which nobody waits for at the end.
    try set(CURLOPT_NOSIGNAL, 1)
    try set(CURLOPT_QUICK_EXIT, 1)
    try set(CURLOPT_PROTOCOLS_STR, "http,https")
    try set(CURLOPT_FOLLOWLOCATION, 0)
    try set(CURLOPT_SSL_VERIFYPEER, 1)
    try set(CURLOPT_SSL_VERIFYHOST, 2)
    try set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
    try set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
    try set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(configuration.connectLimit))
    try set(CURLOPT_TIMEOUT_MS, milliseconds(configuration.totalLimit))
    try set(CURLOPT_LOW_SPEED_LIMIT, configuration.lowSpeedBytes)
    try set(
      CURLOPT_LOW_SPEED_TIME, max(1, Int(configuration.lowSpeedLimit.components.seconds)))
    try set(CURLOPT_MAXLIFETIME_CONN, Int(configuration.connectionLife.components.seconds))
    try set(CURLOPT_TCP_KEEPALIVE, 1)
    try set(CURLOPT_USERAGENT, configuration.userAgent)
    if let file = configuration.certificateFile { try set(CURLOPT_CAINFO, file) }
  }

  private func setAnswer() throws(HTTPFailure) {
    let context = unsafe UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    try unsafe set(CURLOPT_PRIVATE, context)
    try unsafe set(CURLOPT_ERRORBUFFER, UnsafeRawPointer(errorText))
    try unsafe set(CURLOPT_HEADERDATA, context)
    try unsafe set(CURLOPT_WRITEDATA, context)
    try check(unsafe eb_curl_set_write(easy, CURLOPT_HEADERFUNCTION, takeHead))
    try check(unsafe eb_curl_set_write(easy, CURLOPT_WRITEFUNCTION, takeBody))
    try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    try set(CURLOPT_ACCEPT_ENCODING, "gzip")
  }

  /// A 5xx: the next request makes a connection of its own. A server that serves one connection at a
  /// time would not look at that as long as this one stays open.
  fileprivate func closeAfterFailure() {
    guard let status = buffer.reply?.status, status >= 500 else { return }
    _ = unsafe eb_curl_set_long(easy, CURLOPT_FORBID_REUSE, 1)
  }

  private func setRequest(_ call: HTTPCall) throws(HTTPFailure) {
    try set(CURLOPT_URL, call.url)
    if call.wantsFreshConnection {
      try set(CURLOPT_FRESH_CONNECT, 1)
      try set(CURLOPT_DNS_CACHE_TIMEOUT, 0)
    }
    if call.method == "GET" {
      try set(CURLOPT_HTTPGET, 1)
    } else {
      try set(CURLOPT_POST, 1)
      try setBody(call.body)
      if call.method != "POST" { try set(CURLOPT_CUSTOMREQUEST, call.method) }
    }
    // Waiting for `100 Continue` costs a round trip, and a second where a server does not know it.
    try add("Expect:")
    for header in call.headers {
      guard header.isValid else {
        throw HTTPFailure(.request, host: host, "the header \(header.name) cannot be sent")
      }
      try add(header.value.isEmpty ? header.name + ";" : header.name + ": " + header.value)
    }
    try unsafe set(CURLOPT_HTTPHEADER, UnsafeRawPointer(headers))
  }

  /// Curl copies it, so that it stays where it is while it is sent.
  private func setBody(_ body: [UInt8]) throws(HTTPFailure) {
    try check(unsafe eb_curl_set_off(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)))
    let code = unsafe body.withUnsafeBytes { bytes in
      // An empty array has no address, and curl takes nil for "read standard input".
      unsafe bytes.isEmpty
        ? eb_curl_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, "")
        : eb_curl_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress)
    }
    try check(code)
  }

  private func add(_ line: String) throws(HTTPFailure) {
    guard let longer = unsafe curl_slist_append(headers, line) else {
      throw HTTPFailure(.request, host: host, "libcurl has no memory for a header")
    }
    unsafe headers = longer
  }

  private func milliseconds(_ duration: Duration) -> Int {
    max(1, Int(duration.nanoseconds / 1_000_000))
  }

  private func set(_ option: CURLoption, _ value: Int) throws(HTTPFailure) {
    try check(unsafe eb_curl_set_long(easy, option, value))
  }

  private func set(_ option: CURLoption, _ value: String) throws(HTTPFailure) {
    try check(unsafe eb_curl_set_pointer(easy, option, value))
  }

  private func set(_ option: CURLoption, _ value: UnsafeRawPointer?) throws(HTTPFailure) {
    try check(unsafe eb_curl_set_pointer(easy, option, value))
  }

  private func check(_ code: CURLcode) throws(HTTPFailure) {
    guard code == CURLE_OK else {
      throw HTTPFailure(.request, host: host, unsafe String(cString: curl_easy_strerror(code)))
    }
  }
}

// Called within `curl_multi_perform`. Another number than was given ends the transfer.

private func takeHead(
  _ line: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let line = unsafe line, let context = unsafe context else { return 0 }
  let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  let bytes = unsafe UnsafeRawBufferPointer(start: line, count: size * count)
  guard unsafe transfer.buffer.takeHead(bytes.bytes) else { return 0 }
  transfer.closeAfterFailure()
  return size * count
}

private func takeBody(
  _ piece: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let piece = unsafe piece, let context = unsafe context else { return 0 }
  let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  let bytes = unsafe UnsafeRawBufferPointer(start: piece, count: size * count)
  return unsafe transfer.buffer.takeBody(bytes.bytes) ? size * count : 0
}
