internal import HTTPServer

/// What a browser must be told before a page of another origin may send (Fetch, "HTTP extensions").
///
/// Any origin may: the key decides who may write, and nothing is read back but verdicts.
enum CrossOrigin {
  /// The answer to an OPTIONS request.
  static func preflight(_ request: HTTPRequest) -> HTTPResponse {
    var answer = HTTPResponse(status: 204)
    answer.headers = [
      .init("Access-Control-Allow-Methods", "POST, GET, OPTIONS"),
      .init(
        "Access-Control-Allow-Headers",
        request.header("Access-Control-Request-Headers").flatMap { isPlain($0) ? $0 : nil }
          ?? "Authorization, Content-Type, Content-Encoding"),
      .init("Access-Control-Max-Age", "86400"),
    ]
    return allow(answer, request)
  }

  /// Adds what lets the page see the answer. The origin is named, since `sendBeacon` sends with
  /// credentials, for which `*` does not do.
  static func allow(_ answer: HTTPResponse, _ request: HTTPRequest) -> HTTPResponse {
    guard let origin = request.header("Origin"), isPlain(origin) else { return answer }
    var answer = answer
    answer.headers += [
      .init("Access-Control-Allow-Origin", origin),
      .init("Access-Control-Allow-Credentials", "true"), .init("Vary", "Origin"),
    ]
    return answer
  }

  private static func isPlain(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 1000 && text.utf8.allSatisfy { 0x20...0x7E ~= $0 }
  }
}
