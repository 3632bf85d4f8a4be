internal import HTTPServer
internal import TestSupport
internal import Testing

/// Clients that drip, and clients that send more than they may.
@Suite(.timeLimit(.minutes(5)))
struct SlowClientTests {
  /// Sends a byte every 100 ms until the server ends the connection; how many it took.
  private func drip(_ client: TestClient, _ text: String) throws -> Int {
    for (index, byte) in text.utf8.enumerated() {
      if try client.isClosed(withinMilliseconds: 100) { return index }
      do { try client.send([byte]) } catch { return index }
    }
    return text.utf8.count
  }

  @Test func `a head that drips is cut`() throws {
    let server = try sampleServer(limits: HTTPLimits(stepSeconds: 1))
    let client = try TestClient(port: server.port)
    let text = get("/hello", headers: "X: \(String(repeating: "x", count: 200))\r\n")
    #expect(try drip(client, text) < 100)
    #expect(server.counters.tooSlow == 1)
  }

  @Test func `a body that drips is cut, and others are served meanwhile`() throws {
    let server = try sampleServer(limits: HTTPLimits(stepSeconds: 1))
    let client = try TestClient(port: server.port)
    try client.send(get("/echo", method: "POST", headers: "Content-Length: 500\r\n"))
    let other = try TestClient(port: server.port)
    try other.send(get("/hello"))
    #expect(try other.receive().status == 200)
    #expect(try drip(client, String(repeating: "x", count: 500)) < 100)
  }

  @Test func `a client that sends all before it reads sees why it is refused`() throws {
    let server = try sampleServer()
    for _ in 0..<20 {
      let client = try TestClient(port: server.port)
      try client.send(post(String(repeating: "x", count: 200_000)))
      let answer = try client.receive()
      #expect(answer.status == 413)
      #expect(answer.body.contains("1000 bytes"))
      #expect(try client.isClosed())
    }
    #expect(server.counters.tooLarge == 20)
  }

  @Test func `a chunked body far over the limit is cut with a refusal`() throws {
    let server = try sampleServer()
    let client = try TestClient(port: server.port)
    try client.send(get("/echo", method: "POST", headers: "Transfer-Encoding: chunked\r\n"))
    for _ in 0..<40 { try client.send("1000\r\n\(String(repeating: "x", count: 4096))\r\n") }
    #expect(try client.receive().status == 413)
  }

  @Test func `bodies that have no room together are refused, and then there is room again`() throws
  {
    let server = try sampleServer(limits: HTTPLimits(bodyBytes: 1000, allBodiesBytes: 1500))
    let first = try TestClient(port: server.port)
    try first.send(get("/echo", method: "POST", headers: "Content-Length: 1000\r\n"))
    try first.send(String(repeating: "x", count: 999))
    let second = try TestClient(port: server.port)
    // Until the first one's bytes have arrived there is room for a second.
    repeat {
      try second.send(post(String(repeating: "y", count: 1000)))
    } while try second.receive().status == 201
    try first.send("x")
    #expect(try first.receive().status == 201)
    let third = try TestClient(port: server.port)
    try third.send(post(String(repeating: "z", count: 1000)))
    #expect(try third.receive().status == 201)
  }
}
