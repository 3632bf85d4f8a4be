internal import HTTPServer
internal import Primitives
internal import Synchronization
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(5)))
struct LimitTests {
  @Test func `a body of exactly the limit is taken`() throws {
    let server = try sampleServer()
    let client = try TestClient(port: server.port)
    let body = String(repeating: "x", count: 1000)
    try client.send(post(body))
    #expect(try client.receive().body == body)
  }

  @Test func `a body too large by its length is refused before it is sent`() throws {
    let server = try sampleServer()
    let client = try TestClient(port: server.port)
    try client.send(get("/echo", method: "POST", headers: "Content-Length: 1001\r\n"))
    let answer = try client.receive()
    #expect(answer.status == 413)
    #expect(answer.headers["content-type"] == "application/json")
    #expect(
      answer.body
        == #"{"success":false,"code":"too_large","message":"the body may have 1000 bytes at most"}"#
    )
    #expect(try client.isClosed())
  }

  @Test func `a body too large by count is refused at its end`() throws {
    let server = try sampleServer()
    let client = try TestClient(port: server.port)
    try client.send(get("/echo", method: "POST", headers: "Transfer-Encoding: chunked\r\n"))
    for _ in 0..<11 { try client.send("64\r\n\(String(repeating: "x", count: 100))\r\n") }
    try client.send("0\r\n\r\n")
    #expect(try client.receive().status == 413)
    try client.send(get("/hello"))
    #expect(try client.receive().status == 200)
  }

  @Test func `a body without end is cut`() throws {
    let server = try sampleServer()
    let client = try TestClient(port: server.port)
    try client.send(get("/echo", method: "POST", headers: "Transfer-Encoding: chunked\r\n"))
    let chunk = "1000\r\n\(String(repeating: "x", count: 4096))\r\n"
    #expect(throws: (any Error).self) {
      for _ in 0..<10_000 { try client.send(chunk) }
    }
  }

  @Test(arguments: ["-1", "abc", "99999999999999999999", "1 2"])
  func `a length that is no number is never served`(length: String) throws {
    let server = try sampleServer()
    let client = try TestClient(port: server.port)
    try client.send(get("/echo", method: "POST", headers: "Content-Length: \(length)\r\n"))
    #expect(try 400...499 ~= client.receive().status)
  }

  @Test func `a long path is refused`() throws {
    let server = try sampleServer(limits: HTTPLimits(pathBytes: 100))
    let client = try TestClient(port: server.port)
    try client.send(get("/" + String(repeating: "p", count: 100)))
    let answer = try client.receive()
    #expect(answer.status == 414)
    #expect(answer.body.hasPrefix(#"{"success":false,"code":"path_too_long","message":"#))
  }

  @Test func `headers beyond the memory of a connection are refused`() throws {
    let server = try sampleServer(limits: HTTPLimits(headBytes: 2048))
    let client = try TestClient(port: server.port)
    try client.send(get("/hello", headers: "X: \(String(repeating: "h", count: 4000))\r\n"))
    #expect(try [413, 414, 431].contains(client.receive().status))
  }

  @Test func `a connection on which nothing moves is closed`() throws {
    let server = try sampleServer(limits: HTTPLimits(idleSeconds: 1))
    let half = try TestClient(port: server.port)
    try half.send("POST /echo HTTP/1.1\r\nHost: t")
    let silent = try TestClient(port: server.port)
    #expect(try half.isClosed())
    #expect(try silent.isClosed())
  }

  @Test func `one address has no more connections than it may`() throws {
    let server = try sampleServer(limits: HTTPLimits(connectionsPerAddress: 1))
    var first: TestClient? = try TestClient(port: server.port)
    try first?.send(get("/hello"))
    #expect(try first?.receive().status == 200)
    #expect(try TestClient(port: server.port).isClosed())
    first = nil
    #expect(
      try waitUntil {
        let next = try TestClient(port: server.port)
        do {
          try next.send(get("/hello"))
          return try next.receive().status == 200
        } catch is ConnectionEnded { return false } catch is SystemError { return false }
      })
  }

  @Test func `a connection too many is served when another ends`() throws {
    let server = try sampleServer(limits: HTTPLimits(connections: 1))
    var first: TestClient? = try TestClient(port: server.port)
    try first?.send(get("/hello"))
    #expect(try first?.receive().status == 200)
    let second = try TestClient(port: server.port)
    try second.send(get("/hello"))
    first = nil
    #expect(try second.receive().status == 200)
  }
  @Test func `while all connections are taken, who does not move on makes room, and that is told`()
    throws
  {
    let told = Mutex<[Int]>([])
    var limits = HTTPLimits(connections: 2, stepSeconds: 6)
    limits.idleSeconds = 60
    let server = try HTTPServer(
      limits: limits, onFull: { connections in told.withLock { $0.append(connections) } },
      answering: { $1.answer(.text("hello")) })
    let silent = try TestClient(port: server.port)
    let half = try TestClient(port: server.port)
    try half.send("GET /hel")
    let next = try TestClient(port: server.port)
    try next.send(get("/hello"))
    #expect(try next.receive().status == 200)
    #expect(try silent.isClosed() || half.isClosed())
    #expect(server.counters.crowdedOut >= 1 && server.counters.tooSlow == 0)
    #expect(server.counters.full >= 1)
    #expect(told.withLock { $0 } == [2])
  }
}
