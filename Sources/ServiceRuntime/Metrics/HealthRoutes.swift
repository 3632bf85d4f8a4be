/// What a service answers about itself over HTTP, apart from any server: GET `/metrics` (Prometheus),
/// `/healthz` (200 while the process turns), `/readyz` (200 or 503), `/status` (JSON).
///
/// The closures run on the server's threads, once a request: they read snapshots and do not block.
public struct HealthRoutes: Sendable {
  public struct Answer: Hashable, Sendable {
    public var status: Int
    public var contentType: String
    public var body: [UInt8]
  }

  public static let plainText = "text/plain; charset=utf-8"

  private let metrics: @Sendable () -> [Metric]
  private let isReady: @Sendable () -> Bool
  private let status: @Sendable () -> JSONText

  public init(
    metrics: @escaping @Sendable () -> [Metric], isReady: @escaping @Sendable () -> Bool,
    status: @escaping @Sendable () -> JSONText
  ) {
    self.metrics = metrics
    self.isReady = isReady
    self.status = status
  }

  /// - Parameter path: without the query.
  public func answer(method: String, path: String) -> Answer {
    guard ["/metrics", "/healthz", "/readyz", "/status"].contains(path) else {
      return text(404, "not found; there are /metrics, /healthz, /readyz and /status\n")
    }
    guard method == "GET" || method == "HEAD" else { return text(405, "only GET and HEAD\n") }
    switch path {
    case "/metrics":
      let body = MetricsText.format(metrics() + ProcessMetrics.snapshot())
      return Answer(status: 200, contentType: MetricsText.contentType, body: Array(body.utf8))
    case "/status":
      let body = status().utf8 + [UInt8(ascii: "\n")]
      return Answer(status: 200, contentType: "application/json", body: body)
    case "/readyz": return isReady() ? text(200, "ready\n") : text(503, "not ready\n")
    default: return text(200, "ok\n")
    }
  }

  private func text(_ status: Int, _ body: String) -> Answer {
    Answer(status: status, contentType: Self.plainText, body: Array(body.utf8))
  }
}
