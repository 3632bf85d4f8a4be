internal import HTTPServer
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(5)))
struct BrokenClientTests {
  @Test(arguments: 0..<20)
  func `garbage harms nobody else`(seed: UInt64) throws {
    let server = try sampleServer()
    var random = SeededRandom(state: seed)
    let broken = try TestClient(port: server.port)
    try broken.send((0..<500).map { _ in UInt8.random(in: 0...255, using: &random) })
    broken.finishSending()
    let other = try TestClient(port: server.port)
    try other.send(get("/hello"))
    #expect(try other.receive().status == 200)
  }

  @Test(arguments: 1..<70)
  func `a client that leaves in the middle harms nobody else`(length: Int) throws {
    let server = try sampleServer()
    let request = Array(post("a body of some length").utf8)
    var leaving: TestClient? = try TestClient(port: server.port)
    try leaving?.send(Array(request.prefix(length)))
    leaving = nil
    let other = try TestClient(port: server.port)
    try other.send(get("/hello"))
    #expect(try other.receive().status == 200)
  }

  @Test(arguments: [
    "Content-Length: 5\r\nContent-Length: 28\r\n",
    "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
  ])
  func `a request whose end can be read in two ways is refused, and its connection closed`(
    _ headers: String
  ) throws {
    let server = try sampleServer()
    let client = try TestClient(port: server.port)
    try client.send("POST /echo HTTP/1.1\r\nHost: t\r\n\(headers)\r\n5\r\nhello\r\n0\r\n\r\n")
    #expect(try client.receive().status == 400)
    #expect(try client.isClosed())
  }

  @Test(arguments: [
    "gzip, chunked", "identity", "chunked, chunked", "chunked\r\nTransfer-Encoding: gzip",
  ])
  func `a body sent in an unknown way is refused at once, and its connection closed`(
    _ encoding: String
  ) throws {
    let server = try sampleServer()
    let client = try TestClient(port: server.port)
    try client.send("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: \(encoding)\r\n\r\n")
    #expect(try client.receive().status == 501)
    #expect(try client.isClosed())
  }

  @Test func `half-open connections leave room for others`() throws {
    let server = try sampleServer()
    let halves = try (0..<40).map { _ in try TestClient(port: server.port) }
    for half in halves { try half.send("GET /hel") }
    let other = try TestClient(port: server.port)
    try other.send(get("/hello"))
    #expect(try other.receive().status == 200)
    for half in halves { try half.send("lo HTTP/1.1\r\nHost: t\r\n\r\n") }
    for half in halves { #expect(try half.receive().status == 200) }
  }

  @Test func `a request sent byte by byte is served`() throws {
    let server = try sampleServer()
    let client = try TestClient(port: server.port)
    for byte in Array(post("slow").utf8) { try client.send([byte]) }
    #expect(try client.receive().body == "slow")
  }
}

/// SplitMix64: the same garbage at every run.
struct SeededRandom: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
