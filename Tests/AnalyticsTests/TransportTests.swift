import Analytics
import Gzip
import HTTPServer
import Primitives
import Synchronization
import TestSupport
import Testing

/// The system's own transport, over real sockets.
@Suite(.timeLimit(.minutes(5)))
struct TransportTests {
  /// What the server was sent.
  final class Seen: Sendable {
    private let requests = Mutex<[HTTPRequest]>([])
    var all: [HTTPRequest] { requests.withLock { $0 } }
    /// Returns how many there were before.
    func add(_ request: HTTPRequest) -> Int {
      requests.withLock { requests in
        requests.append(request)
        return requests.count - 1
      }
    }
  }

  private func client(_ port: UInt16) throws -> AnalyticsClient {
    var configuration = AnalyticsClientConfiguration(
      endpoint: "http://127.0.0.1:\(port)/v1/events", writeKey: "key")
    configuration.flushInterval = .seconds(3600)
    return try AnalyticsClient(configuration)
  }

  @Test func `a success whose body is not the gzip that it says has the events`() async throws {
    let seen = Seen()
    let server = try HTTPServer { request in
      _ = seen.add(request)
      var answer = HTTPResponse.json(Array(#"{"success":true}"#.utf8))
      answer.headers.append(.init("Content-Encoding", "gzip"))
      return answer
    }
    defer { server.stop() }
    let client = try client(server.port)
    client.track(AnalyticsEvent(name: "Event"))
    #expect(await client.flush().isComplete)
    let metrics = await client.metrics
    #expect(metrics.delivered == 1 && metrics.failedRequests == 0 && seen.all.count == 1)
  }

  @Test func `events go out over the system's transport, and an error's batch goes again`()
    async throws
  {
    let seen = Seen()
    let server = try HTTPServer { request in
      seen.add(request) == 0
        ? .text("not now", status: 503) : .json(Array(#"{"success":true,"results":[]}"#.utf8))
    }
    defer { server.stop() }
    let client = try client(server.port)
    for number in 0..<50 { client.track(AnalyticsEvent(name: "Event number \(number)")) }
    _ = await client.metrics
    #expect(await eventually { await client.flush().isComplete })
    let metrics = await client.metrics
    #expect(metrics.delivered == 50 && metrics.failedRequests == 1)
    let request = try #require(seen.all.last)
    #expect(request.method == "POST" && request.path == "/v1/events")
    #expect(request.header("Authorization") == "Basic a2V5Og==")
    #expect(request.header("Content-Type") == "application/json")
    #expect(request.header("Content-Encoding") == "gzip")
    var stream = try GunzipStream()
    var body: [UInt8] = []
    try unsafe stream.read(request.body.span.bytes, into: &body, limit: 1 << 20)
    try stream.finish()
    let text = String(decoding: body, as: UTF8.self)
    #expect(text.hasPrefix(#"[{"type":"track","event":"Event number 0","messageId":""#))
    #expect(text.contains(#""event":"Event number 49""#) && text.hasSuffix("\"}]"))
  }

  @Test func `where nobody listens, a flush says so and the events wait`() async throws {
    let server = try HTTPServer { _ in .text("") }
    let port = server.port
    server.stop()
    let client = try client(port)
    client.track(EventType.GameReset())
    let result = await client.flush()
    #expect(result.waiting == 1 && result.failure?.contains("127.0.0.1:\(port)") == true)
    await client.close()
  }

  @Test func `an event that is erased while its request is under way is cut off`() async throws {
    // Never answers: a responder that goes answers for itself.
    let waiting = Mutex<[HTTPResponder]>([])
    let server = try HTTPServer(answering: { _, responder in
      waiting.withLock { $0.append(responder) }
    })
    defer { server.stop() }
    let client = try client(server.port)
    client.track(EventType.GameReset())
    async let flushed = client.flush()
    #expect(await eventually { waiting.withLock { $0.count } == 1 })
    await client.erase()
    #expect(await flushed.isComplete)
    #expect(await client.metrics.erased == 1)
    // The server's handler holds them, and they hold the server.
    waiting.withLock { $0 = [] }
  }
}
