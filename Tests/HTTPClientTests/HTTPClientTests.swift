internal import DestinationTestSupport
internal import TestSupport
internal import Testing

@testable internal import HTTPClient

@Suite(.timeLimit(.minutes(5)))
struct HTTPClientTests {
  @Test func `a request arrives as it was given and its answer comes back`() throws {
    let server = try StubServer { request in
      let told =
        "\(request.method) \(request.path)?\(request.query) \(request.headers["x-a"] ?? "")"
      return StubAnswer(201, headers: [("X-Back", "yes")], body: Array(told.utf8) + request.body)
    }
    let reply = try Caller().reply(
      HTTPCall(
        server.url + "/v1/batch?a=1", headers: [HTTPHeader("X-A", "b")],
        body: Array("äb".utf8)))
    #expect(reply.status == 201)
    #expect(String(decoding: reply.body, as: UTF8.self) == "POST /v1/batch?a=1 bäb")
    #expect(reply.header("x-back") == "yes")
    #expect(!reply.isBodyCut)
  }

  @Test(arguments: ["GET", "POST", "PUT"])
  func `a request without a body is sent without one`(_ method: String) throws {
    let server = try StubServer { request in
      .json("\(request.method) \(request.body.count) \(request.headers["expect"] ?? "none")")
    }
    let reply = try Caller().reply(HTTPCall(server.url, method: method))
    #expect(String(decoding: reply.body, as: UTF8.self) == "\(method) 0 none")
  }

  @Test func `one connection serves many requests`() throws {
    let server = try StubServer { _ in .json("{}") }
    let caller = try Caller()
    for number in 0..<10 {
      let completion = try caller.call(HTTPCall(server.url, body: [1]))
      #expect(completion.reusedConnection == (number > 0))
    }
    #expect(server.connections == 1)
  }

  @Test func `where it is asked for, a connection is made anew and the next ones stay on it`()
    throws
  {
    let server = try StubServer { _ in .json("{}") }
    let caller = try Caller()
    for isFresh in [false, false, true, false] {
      let call = HTTPCall(server.url, body: [1], wantsFreshConnection: isFresh)
      #expect(try caller.reply(call).status == 200)
    }
    #expect(server.connections == 2)
  }

  @Test func `a connection that has grown old is left, however well it works`() throws {
    let server = try StubServer { _ in .json("{}") }
    var configuration = HTTPClientConfiguration()
    configuration.connectionLife = .seconds(1)
    let caller = try Caller(configuration)
    #expect(
      try waitUntil {
        _ = try caller.reply(HTTPCall(server.url, body: [1]))
        return server.connections > 1
      })
  }

  @Test func `a connection that was closed between two requests is made anew`() throws {
    let server = try StubServer { _ in StubAnswer(body: [1], delivery: .thenClose) }
    let caller = try Caller()
    for _ in 0..<5 { #expect(try caller.reply(HTTPCall(server.url, body: [1])).status == 200) }
    #expect(server.connections == 5)
  }

  @Test func `a reset of a connection that was kept is tried once more by itself`() throws {
    let server = try StubServer { request in
      request.number == 2 ? StubAnswer(delivery: .reset) : .json("\(request.number)")
    }
    let caller = try Caller()
    #expect(try caller.reply(HTTPCall(server.url, body: [1])).body == Array("1".utf8))
    #expect(try caller.reply(HTTPCall(server.url, body: [1])).body == Array("3".utf8))
  }

  @Test func `requests run beside each other`() throws {
    let server = try StubServer { request in
      StubAnswer(body: request.body, delivery: .hang(milliseconds: request.number == 1 ? 300 : 0))
    }
    var client = try HTTPClient()
    let slow = try client.start(HTTPCall(server.url, body: Array("a".utf8)))
    // The first has arrived before the second is sent.
    while server.connections == 0 { _ = client.wait(.milliseconds(10)) }
    let fast = try client.start(HTTPCall(server.url, body: Array("b".utf8)))
    var ended: [HTTPClient.CallID] = []
    while ended.count < 2 { ended += client.wait(.seconds(10)).map(\.id) }
    #expect(Set(ended) == [slow, fast])
    #expect(server.connections == 2)
  }

  @Test func `a redirect is an answer and not followed`() throws {
    let server = try StubServer { request in
      StubAnswer(request.path == "/there" ? 200 : 307, headers: [("Location", "/there")])
    }
    #expect(try Caller().reply(HTTPCall(server.url, body: [1])).status == 307)
  }

  @Test func `an interim answer is passed over`() throws {
    var buffer = ReplyBuffer(HTTPClientConfiguration())
    for line in [
      "HTTP/1.1 100 Continue\r\n", "X-A: b\r\n", "\r\n", "HTTP/2 204\r\n", "x-c:  d \r\n",
    ] {
      let bytes = Array(line.utf8)
      #expect(unsafe buffer.takeHead(bytes.span.bytes))
    }
    #expect(buffer.reply == HTTPReply(status: 204, headers: [HTTPHeader("x-c", "d")]))
  }

  @Test func `after a 5xx the next request connects anew`() throws {
    let server = try StubServer { request in .json("{}", status: request.number == 2 ? 503 : 200) }
    let caller = try Caller()
    for _ in 0..<4 { _ = try caller.reply(HTTPCall(server.url, body: [1])) }
    #expect(server.connections == 2)
  }

  @Test func `the connection of a 5xx is closed, for a server that serves one at a time`() throws {
    let server = try StubServer { _ in .json("{}", status: 500) }
    let caller = try Caller()
    #expect(try caller.reply(HTTPCall(server.url, body: [1])).status == 500)
    #expect(waitUntil { server.openConnections == 0 })
  }

  @Test func `a request given up ends without a word and its connection closes`() throws {
    let server = try StubServer { _ in StubAnswer(delivery: .hang(milliseconds: 60_000)) }
    var client = try HTTPClient()
    let id = try client.start(HTTPCall(server.url, body: [1]))
    while server.connections == 0 { _ = client.wait(.milliseconds(10)) }
    client.cancel(id)
    #expect(client.callCount == 0)
    #expect(client.wait(.milliseconds(1)).isEmpty)
  }

  @Test func `more requests than allowed are refused`() throws {
    let server = try StubServer { _ in StubAnswer(delivery: .hang(milliseconds: 60_000)) }
    var configuration = HTTPClientConfiguration()
    configuration.calls = 1
    var client = try HTTPClient(configuration)
    _ = try client.start(HTTPCall(server.url))
    #expect(failure { try client.start(HTTPCall(server.url)) }?.kind == .request)
  }
}
