import HTTPServer
import Primitives
@testable import ServiceRuntime
import Testing

@Suite struct MetricsTests {
  @Test func `metrics are written in the exposition format`() {
    let metrics: [Metric] = [
      .counter("eventbus_events_total", help: "Events\nstored \\ kept.", 3),
      Metric(
        "eventbus_lag", .gauge, help: "Lag.",
        samples: [
          .init(0.5, [.init("name", "a\"b\\c\nd"), .init("kind", "x")]), .init(.infinity),
          .init(.nan),
        ]),
      Metric("eventbus_none", .gauge, help: "Nothing yet.", samples: []),
    ]
    #expect(
      MetricsText.format(metrics) == #"""
        # HELP eventbus_events_total Events\nstored \\ kept.
        # TYPE eventbus_events_total counter
        eventbus_events_total 3
        # HELP eventbus_lag Lag.
        # TYPE eventbus_lag gauge
        eventbus_lag{name="a\"b\\c\nd",kind="x"} 0.5
        eventbus_lag +Inf
        eventbus_lag NaN
        # HELP eventbus_none Nothing yet.
        # TYPE eventbus_none gauge

        """#)
  }

  @Test func `a process tells its memory, CPU time and open files`() {
    let samples = ProcessMetrics.snapshot().flatMap(\.samples)
    #expect(samples.count == 4)
    #expect(samples.allSatisfy { $0.value > 0 })
  }

  static let routes: [(String, String, UInt32, String)] = [
    ("GET", "/healthz", 200, "ok\n"), ("GET", "/readyz", 503, "not ready\n"),
    ("GET", "/status", 200, "{\"lag\":3}\n"), ("HEAD", "/healthz", 200, "ok\n"),
    ("POST", "/status", 405, "use GET, HEAD\n"),
    ("GET", "/", 404, "no such path\n"),
  ]

  @Test(arguments: routes)
  func `questions about health are answered`(
    method: String, path: String, status: UInt32, body: String
  ) {
    let routes = HTTPRoutes.health(metrics: { [] }, isReady: { false }, status: { ["lag": 3] })
    let answer = routes.answer(HTTPRequest(method: method, path: path))
    #expect(answer.status == status)
    #expect(String(decoding: answer.body, as: UTF8.self) == body)
  }

  @Test func `metrics hold those of the service and of the process`() {
    let routes = HTTPRoutes.health(
      metrics: { [.counter("a_total", help: "A.", 1)] }, isReady: { true }, status: { .null })
    let answer = routes.answer(HTTPRequest(method: "GET", path: "/metrics"))
    let text = String(decoding: answer.body, as: UTF8.self)
    #expect(text.contains("\na_total 1\n") && text.contains("process_cpu_seconds_total"))
    #expect(answer.contentType == MetricsText.contentType)
    #expect(routes.answer(HTTPRequest(method: "GET", path: "/readyz")).status == 200)
  }

  @Test(arguments: [
    ("127.0.0.1", "evil.example:7404", UInt32(403)), ("127.0.0.1", "127.0.0.1.evil.example", 403),
    ("127.0.0.1", "localhost:7404", 200), ("::1", "[::1]:7404", 200),
    ("0.0.0.0", "broker:7404", 200), ("10.0.0.5", "broker.eventbus.svc", 200),
  ])
  func `what a loopback address tells of the service, a site by another name does not learn`(
    listening: String, host: String, status: UInt32
  ) {
    let routes = HTTPRoutes.health(metrics: { [] }, isReady: { true }, status: { .null })
    let names = OwnNames(listeningOn: listening)
    for path in ["/status", "/metrics"] {
      let request = HTTPRequest(method: "GET", path: path, headers: [.init("Host", host)])
      #expect(HealthServer.answer(request, routes, names).status == status)
    }
    let probe = HTTPRequest(method: "GET", path: "/healthz", headers: [.init("Host", host)])
    #expect(HealthServer.answer(probe, routes, names).status == 200)
  }

  @Test(.timeLimit(.minutes(5))) func `the health server listens where it says`() throws {
    let routes = HTTPRoutes.health(metrics: { [] }, isReady: { true }, status: { .null })
    let server = try HealthServer(HostPort(host: "127.0.0.1", port: 0), routes)
    #expect(server.address.port > 0)
    #expect(throws: HTTPServerError.self) { try HealthServer(server.address, routes) }
    let address = server.address
    server.stop()
    let again = try HealthServer(address, routes)
    #expect(again.address == address)
  }
}
