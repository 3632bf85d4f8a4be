internal import HTTPServer
internal import Primitives
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(5)))
struct StopTests {
  @Test func `stopping closes idle connections and frees the port`() throws {
    let server = try sampleServer()
    let client = try TestClient(port: server.port)
    try client.send(get("/hello"))
    #expect(try client.receive().status == 200)
    server.stop()
    #expect(try client.isClosed())
    #expect(throws: SystemError.self) { try TestClient(port: server.port) }
    let next = try HTTPServer(port: server.port) { _ in .text("next") }
    let again = try TestClient(port: next.port)
    try again.send(get("/"))
    #expect(try again.receive().body == "next")
  }

  @Test func `stopping twice is stopping once`() throws {
    let server = try sampleServer()
    server.stop()
    server.stop()
    #expect(throws: SystemError.self) { try TestClient(port: server.port) }
  }

  @Test func `a request under way is answered, and its connection closed`() throws {
    let entered = try WakeSignal()
    let leave = try WakeSignal()
    let server = try HTTPServer(limits: HTTPLimits(drainMilliseconds: 30_000)) { _ in
      entered.signal()
      leave.wait()
      return .text("done")
    }
    let client = try TestClient(port: server.port)
    try client.send(get("/"))
    entered.wait()
    let stopping = try OwnedThread(name: "stop") { server.stop() }
    leave.signal()
    #expect(try client.receive().body == "done")
    stopping.join()
    #expect(try client.isClosed())
  }

  @Test func `a body that is still being sent when stopping begins is taken and answered`()
    throws
  {
    let server = try sampleServer(limits: HTTPLimits(drainMilliseconds: 30_000))
    let sender = try TestClient(port: server.port)
    let fields = "Content-Length: 4\r\nExpect: 100-continue\r\n"
    try sender.send(get("/echo", method: "POST", headers: fields))
    // Only sent once the server has begun with the request.
    #expect(try sender.receive().status == 100)
    try sender.send("ha")
    let watcher = try TestClient(port: server.port)
    let stopping = try OwnedThread(name: "stop") { server.stop() }
    // Stopping has begun when the watcher is told to close, or is closed between two requests.
    do {
      var answer: TestAnswer
      repeat {
        try watcher.send(get("/hello"))
        answer = try watcher.receive()
      } while answer.headers["connection"]?.lowercased() != "close"
    } catch is ConnectionEnded {
    } catch is SystemError {
    }
    try sender.send("lf")
    #expect(try sender.receive().body == "half")
    stopping.join()
  }

  @Test func `a request that never ends is cut when the time to drain is over`() throws {
    let server = try sampleServer(limits: HTTPLimits(drainMilliseconds: 50))
    let client = try TestClient(port: server.port)
    try client.send(get("/hello"))
    #expect(try client.receive().status == 200)
    try client.send(get("/echo", method: "POST", headers: "Content-Length: 10\r\n") + "half")
    server.stop()
    #expect(try client.isClosed())
  }

  @Test func `a server that nobody keeps stops`() throws {
    var server: HTTPServer? = try sampleServer()
    let port = try #require(server?.port)
    server = nil
    #expect(throws: SystemError.self) { try TestClient(port: port) }
  }
}
