internal import HTTPServer
internal import Primitives
internal import Synchronization
internal import TestSupport
internal import Testing

/// Answers that go on, with real clients.
@Suite(.timeLimit(.minutes(5)))
struct StreamTests {
  /// Streams that a server has given and nobody has taken.
  private final class Given: Sendable {
    let streams = Mutex<[HTTPStream]>([])
  }

  /// A server whose every answer is a stream.
  private struct StreamServer {
    private let given = Given()
    private let server: HTTPServer

    init(_ limits: HTTPLimits = HTTPLimits()) throws {
      let given = given
      server = try HTTPServer(limits: limits) { _, responder in
        let head = HTTPResponse(contentType: "text/event-stream")
        guard let stream = responder.stream(head) else { return }
        given.streams.withLock { $0.append(stream) }
      }
    }

    /// The stream of the next client.
    func next() throws -> HTTPStream {
      try #require(waitUntil { given.streams.withLock { !$0.isEmpty } })
      return given.streams.withLock { $0.removeFirst() }
    }

    var port: UInt16 { server.port }
    var counters: HTTPServerCounters { server.counters }
    func stop() { server.stop() }
  }

  @Test func `messages come as they are sent, in chunks, on one connection`() throws {
    let server = try StreamServer()
    let client = try TestClient(port: server.port)
    try client.send(get("/"))
    let stream = try server.next()
    let head = try client.receive(until: "\r\n\r\n")
    #expect(head.hasPrefix("HTTP/1.1 200") && head.contains("text/event-stream"))
    #expect(head.lowercased().contains("transfer-encoding: chunked"))
    for number in 0..<5 {
      stream.send(Array("data: \(number)\n\n".utf8))
      #expect(try client.receive(until: "\n\n").hasSuffix("data: \(number)\n\n"))
    }
    #expect(server.counters.streams == 1 && stream.isOpen)
  }

  @Test func `an ended stream ends its answer behind the last message, and the connection goes on`()
    throws
  {
    let server = try StreamServer()
    let client = try TestClient(port: server.port)
    try client.send(get("/"))
    let stream = try server.next()
    stream.send(Array("last".utf8))
    stream.end()
    stream.send(Array("never".utf8))
    let text = try client.receive(until: "0\r\n\r\n")
    #expect(text.contains("last") && !text.contains("never") && !stream.isOpen)
    try client.send(get("/"))
    try server.next().send(Array("again".utf8))
    #expect(try client.receive(until: "again").hasPrefix("HTTP/1.1 200"))
  }

  @Test func `one more than the limit is told to come later, until one has ended`() throws {
    var limits = HTTPLimits()
    limits.streams = 2
    let server = try StreamServer(limits)
    let clients = try (0..<3).map { _ in try TestClient(port: server.port) }
    for client in clients.prefix(2) { try client.send(get("/")) }
    let first = try server.next()
    _ = try server.next()
    try clients[2].send(get("/"))
    let refused = try clients[2].receive()
    #expect(refused.status == 503 && refused.headers["retry-after"] == "10")
    #expect(server.counters.streamsRefused == 1)
    first.end()
    #expect(waitUntil { server.counters.streams == 1 })
    try clients[2].send(get("/"))
    try server.next().send(Array("in".utf8))
    #expect(try clients[2].receive(until: "in").hasPrefix("HTTP/1.1 200"))
  }

  @Test func `a slow client is skipped ahead to the newest message, which comes whole`() throws {
    let server = try StreamServer()
    let client = try TestClient(port: server.port)
    try client.send(get("/"))
    let stream = try server.next()
    // More than the sockets between hold, so that most have to wait.
    let filler = String(repeating: ".", count: 200_000)
    for number in 1...60 { stream.send(Array("<\(number) \(filler)>".utf8)) }
    stream.send(Array("<newest>".utf8))
    let text = try client.receive(until: "<newest>")
    let skipped = server.counters.messagesSkipped
    let received = text.split(separator: "<").dropFirst()
    #expect(skipped > 0 && UInt64(received.count) == 61 - skipped)
    #expect(server.counters.tooSlow == 0)
  }

  @Test func `a client that takes nothing is cut, and its place is free`() throws {
    var limits = HTTPLimits(stepSeconds: 1)
    limits.streams = 1
    let server = try StreamServer(limits)
    let client = try TestClient(port: server.port)
    try client.send(get("/"))
    let stream = try server.next()
    let filler = [UInt8](repeating: 46, count: 1_000_000)
    let isCut = waitUntil {
      stream.send(filler)
      return server.counters.streams == 0
    }
    #expect(isCut && server.counters.tooSlow == 1 && !stream.isOpen)
  }

  @Test func `a stream outlives the time for an answer while nothing is sent`() throws {
    var limits = HTTPLimits(idleSeconds: 1, stepSeconds: 1)
    limits.heartbeatSeconds = 1
    let server = try StreamServer(limits)
    let client = try TestClient(port: server.port)
    try client.send(get("/"))
    let stream = try server.next()
    for _ in 0..<3 { _ = try client.receive(until: ":\n\n") }
    stream.send(Array("still".utf8))
    #expect(try client.receive(until: "still").hasSuffix("still"))
    #expect(server.counters.tooSlow == 0)
  }

  @Test func `a client that left is found by the heartbeat`() throws {
    var limits = HTTPLimits()
    limits.heartbeatSeconds = 1
    let server = try StreamServer(limits)
    var client: TestClient? = try TestClient(port: server.port)
    try client?.send(get("/"))
    let stream = try server.next()
    _ = try client?.receive(until: "\r\n\r\n")
    client = nil
    #expect(waitUntil { server.counters.streams == 0 })
    #expect(!stream.isOpen)
  }

  @Test func `a message that is too large is left out and counted`() throws {
    var limits = HTTPLimits()
    limits.streamMessageBytes = 10
    let server = try StreamServer(limits)
    let client = try TestClient(port: server.port)
    try client.send(get("/"))
    let stream = try server.next()
    stream.send([UInt8](repeating: 46, count: 11))
    stream.send([UInt8](repeating: 47, count: 10))
    #expect(try !client.receive(until: "//////////").contains("...."))
    #expect(server.counters.messagesSkipped == 1)
  }

  @Test func `stopping ends streams in order and does not wait for their clients`() throws {
    let server = try StreamServer(HTTPLimits(drainMilliseconds: 20_000))
    let clients = try (0..<5).map { _ in try TestClient(port: server.port) }
    for client in clients {
      try client.send(get("/"))
      try server.next().send(Array("hello".utf8))
      _ = try client.receive(until: "hello")
    }
    let start = ContinuousClock.now
    server.stop()
    #expect(ContinuousClock.now - start < .seconds(10))
    for client in clients {
      #expect(try client.receive(until: "0\r\n\r\n") == "\r\n0\r\n\r\n")
      #expect(try client.isClosed())
    }
  }

  @Test func `messages sent by many threads while clients come and go lose nobody`() async throws {
    var limits = HTTPLimits(connections: 200)
    limits.streams = 100
    let server = try StreamServer(limits)
    let clients = try (0..<20).map { _ in try TestClient(port: server.port) }
    var streams: [HTTPStream] = []
    for client in clients {
      try client.send(get("/"))
      streams.append(try server.next())
    }
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask { [streams] in
          for number in 0..<500 {
            for stream in streams { stream.send(Array("<\(worker).\(number)>".utf8)) }
          }
        }
      }
    }
    for (client, stream) in zip(clients, streams) {
      stream.send(Array("<end>".utf8))
      #expect(try client.receive(until: "<end>").hasPrefix("HTTP/1.1 200"))
    }
  }
}
