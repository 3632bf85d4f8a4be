internal import DestinationTestSupport
internal import HTTPClient
internal import Testing

@Suite(.timeLimit(.minutes(5)))
struct FailureTests {
  /// What the server does, what that is called, and a part of the text.
  static let faults: [(StubAnswer.Delivery, HTTPFailure.Kind, String)] = [
    (.reset, .reset, "connection"),
    (.resetMid, .reset, "connection"),
    (.close, .reset, "without an answer"),
    (.half, .truncated, "stops in its middle"),
    (.hang(milliseconds: 60_000), .timeout, "no whole answer within 300 ms"),
    (.slow(milliseconds: 60_000), .timeout, "no whole answer within 300 ms"),
  ]

  @Test(arguments: faults)
  func `a fault of the server has its name`(
    _ fault: (StubAnswer.Delivery, HTTPFailure.Kind, String)
  ) throws {
    let server = try StubServer { _ in
      StubAnswer(body: [UInt8](repeating: 65, count: 100), delivery: fault.0)
    }
    var configuration = HTTPClientConfiguration()
    // A busy machine may take longer for the others.
    if fault.1 == .timeout { configuration.totalLimit = .milliseconds(300) }
    let failure = try Caller(configuration).failure(HTTPCall(server.url, body: [1]))
    #expect(failure.kind == fault.1)
    #expect(failure.text.contains(fault.2), "\(failure)")
    #expect(failure.host == "127.0.0.1:\(server.port)")
    #expect(failure.mayHaveArrived)
  }

  @Test func `half an answer is there to be looked at`() throws {
    let server = try StubServer { _ in
      StubAnswer(429, headers: [("Retry-After", "7")], body: [65, 65, 65, 65], delivery: .half)
    }
    let failure = try Caller().failure(HTTPCall(server.url, body: [1]))
    #expect(failure.partial?.status == 429)
    #expect(failure.partial?.header("retry-after") == "7")
    #expect(failure.partial?.body == [65, 65])
  }

  @Test func `an answer that drips is cut off before the whole time is over`() throws {
    let server = try StubServer { _ in
      StubAnswer(body: [UInt8](repeating: 65, count: 100), delivery: .slow(milliseconds: 120_000))
    }
    var configuration = HTTPClientConfiguration()
    configuration.lowSpeedLimit = .seconds(1)
    configuration.lowSpeedBytes = 100
    let failure = try Caller(configuration).failure(HTTPCall(server.url, body: [1]))
    #expect(failure.kind == .timeout)
    #expect(failure.text == "under 100 bytes a second came in 1 s")
  }

  @Test func `nobody listens`() throws {
    let server = try StubServer { _ in .json("{}") }
    let url = server.url
    server.stop()
    let failure = try Caller().failure(HTTPCall(url, body: [1]))
    #expect(failure.kind == .connect)
    #expect(!failure.mayHaveArrived)
  }

  @Test func `a name without an address is named`() throws {
    let failure = try Caller().failure(HTTPCall("http://no-such-host.invalid/v1/batch?key=secret"))
    #expect(failure.kind == .resolve)
    #expect(failure.description.hasPrefix("no-such-host.invalid: the name cannot be resolved"))
    #expect(!failure.description.contains("secret"))
  }

  @Test func `an answer that is no HTTP is one that nobody can use`() throws {
    let server = try StubServer { _ in
      StubAnswer(headers: [("X-Long", String(repeating: "a", count: 70_000))])
    }
    let failure = try Caller().failure(HTTPCall(server.url, body: [1]))
    #expect(failure.kind == .answer)
    #expect(failure.text.contains("head has more than 65536 bytes"), "\(failure)")
  }

  @Test func `a head line without end is a fault of the answer`() throws {
    let server = try StubServer { _ in
      StubAnswer(headers: [("X-Long", String(repeating: "a", count: 300_000))])
    }
    let failure = try Caller().failure(HTTPCall(server.url, body: [1]))
    #expect(failure.kind == .answer, "\(failure)")
    #expect(failure.text == "a line of the answer's head is too long")
  }

  @Test func `a long body is cut, a longer one ends the request`() throws {
    let server = try StubServer { request in
      StubAnswer(400, body: [UInt8](repeating: 66, count: request.path == "/long" ? 2000 : 5000))
    }
    var configuration = HTTPClientConfiguration()
    configuration.keptBodyBytes = 1000
    configuration.readBodyBytes = 4000
    let caller = try Caller(configuration)
    let reply = try caller.reply(HTTPCall(server.url + "/long"))
    #expect(reply.body == [UInt8](repeating: 66, count: 1000) && reply.isBodyCut)
    let failure = try caller.failure(HTTPCall(server.url + "/longer"))
    #expect(failure.kind == .body && failure.partial?.status == 400, "\(failure)")
  }

  @Test func `a compressed answer is bounded by what it unpacks to`() throws {
    let bomb = try StubAnswer.zipped(zeros: 100 << 20)
    #expect(bomb.body.count < 1 << 20)
    let server = try StubServer { _ in bomb }
    let failure = try Caller().failure(HTTPCall(server.url))
    #expect(failure.kind == .body)
    #expect(failure.partial?.body.count == HTTPClientConfiguration().keptBodyBytes)
    #expect(failure.text.contains("more than 8388608 bytes"), "\(failure)")
  }

  @Test(arguments: ["gzip", "compress", "gzip, gzip"])
  func `of an answer that is not compressed as it says the head is there`(_ said: String) throws {
    let server = try StubServer { _ in
      StubAnswer(201, headers: [("Content-Encoding", said)], body: Array("{}".utf8))
    }
    let failure = try Caller().failure(HTTPCall(server.url, body: [1]))
    #expect(failure.kind == .body && failure.partial?.status == 201, "\(failure)")
    #expect(failure.text == "the answer's body is not compressed as its head says")
  }

  @Test(arguments: [
    "ftp://host/", "http://", "https://user:secret@host/", "http://host/a b", "http://host/#part",
    "http://host:99999/", "host/path",
  ])
  func `an address that cannot be is refused`(_ url: String) throws {
    var client = try HTTPClient()
    let found = failure { try client.start(HTTPCall(url)) }
    #expect(found?.kind == .request)
    #expect(found?.description.contains("secret") == false)
  }

  @Test func `a header with a line break is refused`() throws {
    var client = try HTTPClient()
    let call = HTTPCall("http://127.0.0.1:1", headers: [HTTPHeader("X-A", "b\r\nX-Forged: c")])
    #expect(failure { try client.start(call) }?.kind == .request)
  }
}
