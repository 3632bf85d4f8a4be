internal import HTTPServer

/// What the tests talk to: it echoes bodies and tells what it received.
func sampleServer(limits: HTTPLimits = HTTPLimits(bodyBytes: 1000)) throws -> HTTPServer {
  var routes = HTTPRoutes()
  routes.on("GET", "/hello") { _ in .text("hello\n") }
  routes.on("POST", "/echo") { .text(String(decoding: $0.body, as: UTF8.self), status: 201) }
  routes.on("GET", "/told") { request in
    let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    return .text("\(query) \(request.header("X-SAMPLE") ?? "none")")
  }
  routes.on("GET", "/injection") { request in
    HTTPResponse(headers: [HTTPRequest.Field("X-Back", "a\r\nX-Forged: b")])
  }
  return try HTTPServer(limits: limits, routes: routes)
}

func get(_ path: String, method: String = "GET", headers: String = "") -> String {
  "\(method) \(path) HTTP/1.1\r\nHost: test\r\n\(headers)\r\n"
}

func post(_ body: String, to path: String = "/echo") -> String {
  get(path, method: "POST", headers: "Content-Length: \(body.utf8.count)\r\n") + body
}
