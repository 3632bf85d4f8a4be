internal import CCurl
public import Primitives

/// An HTTP client over libcurl's multi interface: requests run beside each other, connections are kept
/// and used again.
///
/// It belongs to the thread that made it: `start` a request, then `wait` again and again; nothing moves
/// but within `wait`. Another thread reaches its owner by a ``Primitives/WakeSignal`` given to `wait`.
///
/// Certificates are checked; redirects are not followed; a proxy is taken from `http_proxy`,
/// `https_proxy`, `all_proxy` and `no_proxy`. HTTP/2 where a server offers it over TLS. After a failure to
/// resolve or connect, or a 5xx, the next request asks the name service anew and makes a connection of its
/// own. When a connection that was kept turns out closed before a byte of the answer came, libcurl sends
/// the request once more over another by itself.
///
/// Memory: the bodies under way, twice, and `keptBodyBytes` an answer.
@safe public struct HTTPClient: ~Copyable {
  /// Names a request of one client; dense from 1.
  public typealias CallID = UInt64

  public let configuration: HTTPClientConfiguration
  private let multi: UnsafeMutableRawPointer
  private var transfers: [CallID: Transfer] = [:]
  private var nextID: CallID = 1
  private var looksUpAgain = false

  public init(_ configuration: HTTPClientConfiguration = .init()) throws(HTTPFailure) {
    guard Self.isCurlReady, let multi = unsafe curl_multi_init() else {
      throw HTTPFailure(.request, host: "HTTP client", "libcurl cannot start: out of memory")
    }
    unsafe self.multi = multi
    self.configuration = configuration
    _ = unsafe eb_curl_multi_set_long(
      multi, CURLMOPT_MAXCONNECTS, configuration.idleConnections)
  }

  deinit {
    for transfer in transfers.values { unsafe transfer.end(multi) }
    unsafe curl_multi_cleanup(multi)
  }

  /// Requests under way.
  public var callCount: Int { transfers.count }

  /// Starts a request; its end comes from `wait`.
  ///
  /// - Throws: `.request` for one that cannot be sent as it is, or beyond `configuration.calls`.
  public mutating func start(_ call: HTTPCall) throws(HTTPFailure) -> CallID {
    let endpoint: HTTPEndpoint
    do throws(HTTPEndpointError) {
      endpoint = try HTTPEndpoint(call.url)
    } catch { throw HTTPFailure(.request, host: "HTTP client", "\(error)") }
    guard transfers.count < configuration.calls else {
      throw HTTPFailure(.request, host: endpoint.host, "\(transfers.count) requests are under way")
    }
    var call = call
    call.wantsFreshConnection = call.wantsFreshConnection || looksUpAgain
    let id = nextID
    let transfer = try Transfer(id, call, host: endpoint.host, configuration)
    try unsafe transfer.begin(multi)
    looksUpAgain = false
    nextID += 1
    transfers[id] = transfer
    return id
  }

  /// Gives a request up; nothing is heard of it any more. Its connection is closed.
  public mutating func cancel(_ id: CallID) {
    if let transfer = transfers.removeValue(forKey: id) { unsafe transfer.end(multi) }
  }

  /// Moves all requests on until one of them has ended, `limit` is over or a wake has a signal, which
  /// is left for the caller to clear. Returns what has ended: at once when something has already.
  public mutating func wait(
    _ limit: Duration, wakes: [WakeSignal] = []
  ) -> [HTTPCompletion] {
    let ended = advance()
    if !ended.isEmpty { return ended }
    var files = wakes.map {
      curl_waitfd(fd: $0.descriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0)
    }
    let milliseconds = max(0, min(limit.nanoseconds / 1_000_000, 3_600_000))
    _ = unsafe curl_multi_poll(multi, &files, UInt32(files.count), Int32(milliseconds), nil)
    return advance()
  }

  private mutating func advance() -> [HTTPCompletion] {
    var running: Int32 = 0
    _ = unsafe curl_multi_perform(multi, &running)
    var ended: [HTTPCompletion] = []
    var left: Int32 = 0
    while let message = unsafe curl_multi_info_read(multi, &left) {
      guard unsafe message.pointee.msg == CURLMSG_DONE,
        let transfer = unsafe Transfer.of(message.pointee.easy_handle)
      else { continue }
      let code = unsafe eb_curl_message_result(message)
      // Ends what `message` points to.
      unsafe transfer.end(multi)
      transfers[transfer.id] = nil
      let completion = transfer.completion(code)
      looksUpAgain = looksUpAgain || Self.mayHaveMoved(completion.result)
      ended.append(completion)
    }
    return ended
  }

  private static func mayHaveMoved(_ result: Result<HTTPReply, HTTPFailure>) -> Bool {
    switch result {
    case .success(let reply): reply.status >= 500
    case .failure(let failure): failure.kind == .resolve || failure.kind == .connect
    }
  }

  /// Once a process, before any handle: curl's own first use of OpenSSL.
  private static let isCurlReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}
