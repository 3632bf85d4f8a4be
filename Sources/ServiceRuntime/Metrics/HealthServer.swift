public import HTTPServer

extension HTTPRoutes {
  /// What a service answers about itself: GET `/metrics` (Prometheus), `/healthz` (200 while the
  /// process turns), `/readyz` (200 or 503), `/status` (JSON). Others may be added.
  ///
  /// The closures run on the server's thread, once a request: they read snapshots and do not block.
  public static func health(
    metrics: @escaping @Sendable () -> [Metric], isReady: @escaping @Sendable () -> Bool,
    status: @escaping @Sendable () -> JSONText
  ) -> HTTPRoutes {
    var routes = HTTPRoutes()
    routes.on("GET", "/metrics") { _ in
      let text = MetricsText.format(metrics() + ProcessMetrics.snapshot())
      return HTTPResponse(contentType: MetricsText.contentType, body: Array(text.utf8))
    }
    routes.on("GET", "/healthz") { _ in .text("ok\n") }
    routes.on("GET", "/readyz") { _ in
      isReady() ? .text("ready\n") : .text("not ready\n", status: 503)
    }
    // The others are asked by programs of others, which may add something of their own.
    routes.on("GET", "/status", parameters: []) { _ in .json(status().utf8 + [UInt8(ascii: "\n")]) }
    return routes
  }
}

/// The HTTP server behind `--metrics HOST:PORT`, until it is released or stopped.
///
/// On a loopback address it answers to this machine's own names (`OwnNames`); whether the process lives and is
/// ready, anybody may ask.
public struct HealthServer: Sendable {
  private let server: HTTPServer
  private let host: String

  /// - Parameters:
  ///   - address: port 0 for one that is free; `address` then tells which.
  ///   - log: is told when all connections are taken.
  public init(
    _ address: HostPort, _ routes: HTTPRoutes, log: Log? = nil
  ) throws(HTTPServerError) {
    host = address.host
    // Nothing here takes a body, and few ask: the limits are small so that nobody can hold memory.
    let limits = HTTPLimits(connections: 16, idleSeconds: 30, bodyBytes: 0, stepSeconds: 10)
    let ownNames = OwnNames(listeningOn: address.host)
    server = try HTTPServer(
      host: address.host, port: address.port, limits: limits,
      onFull: { connections in log?.allConnectionsTaken(connections, on: address) },
      answering: { $1.answer(Self.answer($0, routes, ownNames)) })
  }

  static func answer(
    _ request: HTTPRequest, _ routes: HTTPRoutes, _ ownNames: OwnNames
  ) -> HTTPResponse {
    let isOpen = request.path == "/healthz" || request.path == "/readyz"
    return isOpen || ownNames.include(request) ? routes.answer(request) : otherName
  }

  private static let otherName = HTTPResponse.text(
    "this address answers to localhost and 127.0.0.1 only; to be asked by another name, listen on an "
      + "address that others reach (--metrics HOST:PORT --insecure)\n",
    status: 403)

  public var address: HostPort { HostPort(host: host, port: server.port) }

  public func stop() { server.stop() }
}

extension Log {
  /// For `HTTPServer(onFull:)`.
  public func allConnectionsTaken(_ connections: Int, on address: HostPort) {
    warning(
      "all connections are taken: others wait, and who does not move on is cut",
      LogField("listen", .text("\(address)")), LogField("connections", .integer(Int64(connections)))
    )
  }
}
