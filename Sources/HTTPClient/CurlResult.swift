internal import CCurl
internal import Primitives

/// How curl ended a transfer, in the words of ``HTTPFailure``.
struct CurlResult {
  var code: CURLcode
  /// What curl says; may be empty.
  var text: String
  var overflow: ReplyBuffer.Overflow?
  /// The request could begin: the connection stood.
  var isConnected: Bool
  var configuration: HTTPClientConfiguration

  func failure(host: String) -> HTTPFailure {
    HTTPFailure(kind, host: host, explanation)
  }

  private var kind: HTTPFailure.Kind {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .resolve
    case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_INTERFACE_FAILED: .connect
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
      CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ENGINE_INITFAILED:
      .tls
    case CURLE_OPERATION_TIMEDOUT: .timeout
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING: .reset
    case CURLE_PARTIAL_FILE: .truncated
    case CURLE_BAD_CONTENT_ENCODING: .body
    case CURLE_WRITE_ERROR where overflow == .body: .body
    // Behind a connection it is the answer that curl makes nothing of: another version of HTTP, or a line of
    // its head that is longer than curl takes, which it calls a lack of memory.
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_OUT_OF_MEMORY,
      CURLE_FAILED_INIT, CURLE_BAD_FUNCTION_ARGUMENT:
      isConnected ? .answer : .request
    default: .answer
    }
  }

  private var explanation: String {
    let reason = text.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : text
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST:
      return "the name cannot be resolved: check the address, and this machine's name service"
    case CURLE_COULDNT_RESOLVE_PROXY:
      return "the proxy's name cannot be resolved: check http_proxy and https_proxy (\(reason))"
    case CURLE_PEER_FAILED_VERIFICATION:
      return "its certificate is not trusted (\(reason)): give the authority that signed it"
    case CURLE_SSL_CACERT_BADFILE:
      let file = configuration.certificateFile ?? "the system's file"
      return "the certificates to trust cannot be read from \(file)"
    case CURLE_OPERATION_TIMEDOUT: return timeoutText
    case CURLE_GOT_NOTHING: return "the connection was closed without an answer"
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR: return "the connection broke (\(reason))"
    case CURLE_BAD_CONTENT_ENCODING: return "the answer's body is not compressed as its head says"
    case CURLE_PARTIAL_FILE: return "the answer stops in its middle (\(reason))"
    case CURLE_OUT_OF_MEMORY where isConnected: return "a line of the answer's head is too long"
    case CURLE_WRITE_ERROR where overflow == .head:
      return "the answer's head has more than \(configuration.headBytes) bytes"
    case CURLE_WRITE_ERROR where overflow == .body:
      return "the answer has more than \(configuration.readBodyBytes) bytes"
    default: return reason
    }
  }

  private var timeoutText: String {
    // Curl says which limit it was in words only.
    if text.contains("too slow") {
      return
        "under \(configuration.lowSpeedBytes) bytes a second came in \(configuration.lowSpeedLimit.text)"
    }
    return isConnected
      ? "no whole answer within \(configuration.totalLimit.text)"
      : "no connection within \(min(configuration.connectLimit, configuration.totalLimit).text)"
  }
}

extension Duration {
  /// As in `10 s` or `250 ms`.
  fileprivate var text: String {
    let milliseconds = nanoseconds / 1_000_000
    return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
  }
}
