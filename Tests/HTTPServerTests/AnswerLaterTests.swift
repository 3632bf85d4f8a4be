internal import HTTPServer
internal import Synchronization
internal import TestSupport
internal import Testing

/// Requests whose handler answers when something else has happened.
@Suite(.timeLimit(.minutes(5)))
struct AnswerLaterTests {
  /// Keeps the responders of `/later`; everything else is answered at once.
  private final class Waiting: Sendable {
    private let responders = Mutex<[HTTPResponder]>([])

    var count: Int { responders.withLock { $0.count } }

    func handle(_ request: HTTPRequest, _ responder: HTTPResponder) {
      if request.path == "/later" {
        responders.withLock { $0.append(responder) }
      } else {
        responder.answer(.text("now \(count)"))
      }
    }

    func take() -> [HTTPResponder] {
      responders.withLock { responders in
        defer { responders = [] }
        return responders
      }
    }
  }

  private func server(_ waiting: Waiting, threads: Int = 1) throws -> HTTPServer {
    try HTTPServer(
      limits: HTTPLimits(drainMilliseconds: 50, threads: threads),
      answering: { waiting.handle($0, $1) })
  }

  /// Asks on another connection until so many wait.
  private func waitFor(_ count: Int, at server: HTTPServer) throws {
    let other = try TestClient(port: server.port)
    repeat { try other.send(get("/now")) } while try other.receive().body != "now \(count)"
  }

  @Test(arguments: [1, 3]) func `requests that wait hold no thread`(threads: Int) throws {
    let waiting = Waiting()
    let server = try server(waiting, threads: threads)
    let clients = try (0..<20).map { _ in try TestClient(port: server.port) }
    for client in clients { try client.send(get("/later")) }
    try waitFor(20, at: server)
    for responder in waiting.take() { responder.answer(.text("done")) }
    for client in clients { #expect(try client.receive().body == "done") }
    // The connections go on.
    for client in clients { try client.send(get("/now")) }
    for client in clients { #expect(try client.receive().status == 200) }
  }

  @Test func `requests sent at once on one connection are answered in order`() throws {
    let waiting = Waiting()
    let server = try server(waiting)
    let client = try TestClient(port: server.port)
    try client.send(get("/later") + get("/now"))
    try waitFor(1, at: server)
    waiting.take()[0].answer(.text("first"))
    #expect(try client.receive().body == "first")
    #expect(try client.receive().body == "now 0")
  }

  @Test func `a request that its handler forgets is answered with 500`() throws {
    let server = try HTTPServer(answering: { _, _ in })
    let client = try TestClient(port: server.port)
    try client.send(get("/"))
    #expect(try client.receive().status == 500)
  }

  @Test func `the second answer is ignored, and one to a client that left too`() throws {
    let waiting = Waiting()
    let server = try server(waiting)
    var client: TestClient? = try TestClient(port: server.port)
    try client?.send(get("/later"))
    try waitFor(1, at: server)
    let responder = waiting.take()[0]
    client = nil
    responder.answer(.text("first"))
    responder.answer(.text("second"))
    let other = try TestClient(port: server.port)
    try other.send(get("/now"))
    #expect(try other.receive().body == "now 0")
  }

  @Test func `stopping answers those that wait with 503`() throws {
    let waiting = Waiting()
    let server = try server(waiting)
    let client = try TestClient(port: server.port)
    try client.send(get("/later"))
    try waitFor(1, at: server)
    server.stop()
    #expect(try client.receive().status == 503)
    waiting.take()[0].answer(.text("too late"))
  }
}
