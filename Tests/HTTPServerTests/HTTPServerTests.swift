@testable internal import HTTPServer
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(5)))
struct HTTPServerTests {
  @Test func `a path is answered with its text`() throws {
    let server = try sampleServer()
    let client = try TestClient(port: server.port)
    try client.send(get("/hello"))
    let answer = try client.receive()
    #expect(answer.status == 200)
    #expect(answer.body == "hello\n")
    #expect(answer.headers["content-type"] == "text/plain; charset=utf-8")
  }

  @Test func `one connection carries request after request`() throws {
    let server = try sampleServer()
    let client = try TestClient(port: server.port)
    for number in 0..<20 {
      try client.send(post("body \(number)"))
      #expect(try client.receive().body == "body \(number)")
    }
  }

  @Test func `two requests sent at once are answered in order`() throws {
    let server = try sampleServer()
    let client = try TestClient(port: server.port)
    try client.send(post("first") + get("/hello"))
    #expect(try client.receive().body == "first")
    #expect(try client.receive().body == "hello\n")
  }

  @Test func `HEAD tells the length and sends no body`() throws {
    let server = try sampleServer()
    let client = try TestClient(port: server.port)
    try client.send(get("/hello", method: "HEAD"))
    let answer = try client.receive(head: true)
    #expect(answer.status == 200)
    #expect(answer.headers["content-length"] == "6")
    // Had a body been sent it would be in front of this answer.
    try client.send(get("/hello"))
    #expect(try client.receive().status == 200)
  }

  @Test func `an unknown path is 404, another method 405 with those allowed`() throws {
    let server = try sampleServer()
    let client = try TestClient(port: server.port)
    try client.send(get("/nowhere"))
    #expect(try client.receive().status == 404)
    try client.send(get("/hello", method: "DELETE"))
    let refusal = try client.receive()
    #expect(refusal.status == 405)
    #expect(refusal.headers["allow"] == "GET, HEAD")
  }

  @Test(
    arguments: [
      (["from", "to"], ["from"], nil), ([], [""], nil),
      (["from"], ["from", "From"], "'From': this address takes from"),
      ([], ["from"], "no parameters"),
      (["from", "to"], ["from", "form<\r\n"], "'form???': this address takes from, to"),
      (["from", "to"], ["from", "to", "from"], "'from' is given twice"),
    ] as [([String], [String], String?)])
  func `a parameter that an address does not know, or gets twice, is named`(
    _ known: [String], _ given: [String], _ told: String?
  ) {
    var routes = HTTPRoutes()
    routes.on("GET", "/a", parameters: known) { _ in .text("answered") }
    routes.on("GET", "/any") { _ in .text("answered") }
    let query = given.map { HTTPRequest.Field($0, "1") }
    let answer = routes.answer(HTTPRequest(method: "HEAD", path: "/a", query: query))
    let text = String(decoding: answer.body, as: UTF8.self)
    #expect(
      told.map { answer.status == 400 && text.contains($0) } ?? (answer.status == 200), "\(text)")
    #expect(routes.answer(HTTPRequest(method: "GET", path: "/any", query: query)).status == 200)
  }

  @Test func `query and headers arrive decoded, names of headers in any case`() throws {
    let server = try sampleServer()
    let client = try TestClient(port: server.port)
    try client.send(get("/told?a=1%202&b&a=%C3%A4", headers: "x-Sample: yes\r\n"))
    #expect(try client.receive().body == "a=1 2&b=&a=ä yes")
  }

  @Test func `blanks behind a header's value are none of it`() throws {
    let server = try sampleServer()
    let client = try TestClient(port: server.port)
    try client.send(get("/told", headers: "X-Sample: a b \t \r\n"))
    #expect(try client.receive().body == " a b")
  }

  @Test(arguments: [
    "//hello", "/hello", "http://test/hello", "HTTP://test:80//hello", "https://test/hello",
  ])
  func `host and doubled slashes of a target lead to the same path`(target: String) throws {
    let server = try sampleServer()
    let client = try TestClient(port: server.port)
    try client.send(get(target))
    #expect(try client.receive().body == "hello\n")
  }

  @Test(arguments: ["", "/", "//", "http://", "http://h", "http:/x", "/a//b/", "ü//"])
  func `any target has a path`(target: String) {
    let paths = [
      "": "", "/": "/", "//": "/", "http://": "/", "http://h": "/", "http:/x": "http:/x",
      "/a//b/": "/a/b/", "ü//": "ü/",
    ]
    #expect(HTTPRequest.path(ofTarget: target) == paths[target])
  }

  @Test func `a chunked body arrives whole`() throws {
    let server = try sampleServer()
    let client = try TestClient(port: server.port)
    try client.send(get("/echo", method: "POST", headers: "Transfer-Encoding: chunked\r\n"))
    try client.send("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
    #expect(try client.receive().body == "abcde")
  }

  @Test func `a header with a line break is never sent`() throws {
    let server = try sampleServer()
    let client = try TestClient(port: server.port)
    try client.send(get("/injection"))
    let answer = try client.receive()
    #expect(answer.status == 500)
    #expect(answer.headers["x-forged"] == nil)
  }

  @Test func `an address in use is named`() throws {
    let server = try sampleServer()
    let expected = HTTPServerError.addressInUse(host: "127.0.0.1", port: server.port)
    #expect(throws: expected) {
      try HTTPServer(port: server.port) { _ in .text("") }
    }
    #expect(expected.description.contains("in use"))
  }

  @Test func `an address of another machine is refused`() {
    // 192.0.2.0/24 is for documentation: nobody has it.
    let error = #expect(throws: HTTPServerError.self) {
      try HTTPServer(host: "192.0.2.1") { _ in .text("") }
    }
    guard case .badAddress(host: "192.0.2.1", _) = error else {
      Issue.record("not a bad address: \(String(describing: error))")
      return
    }
  }
}
