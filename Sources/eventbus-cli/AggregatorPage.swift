import Aggregation
import Dashboard
import HTTPServer
import Primitives
import ServiceRuntime
import Synchronization

/// The aggregator's face: its HTTP server with the page and all that is asked through it.
struct AggregatorPage {
  private let server: HTTPServer
  private let metrics: HealthServer?
  private let page = PageServer()
  private let live: LiveFeed
  private let pipeline: PipelineHealth
  private let listen: HostPort

  init(
    _ aggregator: Aggregator, _ context: Commands.Context, token: String?, listen: HostPort,
    bus: String, portBase: Int
  ) throws {
    let arguments = context.arguments
    let log = context.log.labelled("aggregator")
    let data = try arguments.requiredText("data")
    let metricsAddress = try arguments.optional("metrics", as: HostPort.self)
    if let metricsAddress {
      try ServicePorts.requireLoopback(
        metricsAddress.host, "--metrics \(metricsAddress)", arguments)
    }
    let health = AggregatorHealth.routes(aggregator, context.interruption, page)
    self.listen = listen
    let live = try LiveFeed(aggregator)
    let pipeline: PipelineHealth
    do {
      pipeline = try PipelineHealth {
        try PipelineProbe(aggregator, bus: bus, portBase: portBase, data: data)
      }
    } catch {
      live.stop()
      throw error
    }
    (self.live, self.pipeline) = (live, pipeline)
    do {
      let routes = AggregatorRoutes(
        aggregator: aggregator,
        access: DashboardAccess(token: token, host: listen.host, port: listen.port),
        assets: DashboardAssets(chartLibrary: try Self.chartLibrary(context)), live: live,
        pipeline: pipeline, health: health, page: page)
      server = try Self.serve(routes, listen, log)
      page.begin(server)
      metrics = try metricsAddress.map { address throws(CommandFailure) in
        do throws(HTTPServerError) {
          return try HealthServer(address, health, log: log)
        } catch { throw CommandFailure("--metrics \(address)", error) }
      }
    } catch {
      pipeline.stop()
      live.stop()
      throw error
    }
  }

  var address: String { "http://\(HostPort(host: listen.host, port: server.port))" }
  var metricsAddress: String { metrics.map { "http://\($0.address)" } ?? address }

  func stop() {
    // Nobody waits for an answer of theirs when the server ends.
    pipeline.stop()
    live.stop()
    page.end()
    server.stop()
    metrics?.stop()
  }

  private static func serve(
    _ routes: AggregatorRoutes, _ listen: HostPort, _ log: Log
  ) throws(CommandFailure) -> HTTPServer {
    // One thread: answers are read one after another from one connection to the file.
    let limits = HTTPLimits(connections: 128, bodyBytes: DashboardAccess.loginBytes)
    do throws(HTTPServerError) {
      return try HTTPServer(
        host: listen.host, port: listen.port, limits: limits,
        onFull: { log.allConnectionsTaken($0, on: listen) }, answering: { routes.answer($0, $1) })
    } catch { throw CommandFailure("--listen \(listen)", error) }
  }

  /// Nil when the package is not there.
  private static func chartLibrary(_ context: Commands.Context) throws -> [UInt8]? {
    for path in DashboardAssets.chartLibraryPaths where SmallFile.exists(path) {
      return try SmallFile.read(path, context, naming: "the page's charts")
    }
    return nil
  }
}

/// The server as its own answers about it see it.
final class PageServer: Sendable {
  private let server = Mutex<HTTPServer?>(nil)
  /// Requests of those who may not look.
  let denied = Atomic<UInt64>(0)

  func begin(_ server: HTTPServer) { self.server.withLock { $0 = server } }

  /// The server's handler keeps this, and this the server, until then.
  func end() { server.withLock { $0 = nil } }

  var counters: HTTPServerCounters { server.withLock { $0?.counters } ?? HTTPServerCounters() }
}

/// `--token`, or the first line of `--token-file`.
enum AggregatorToken {
  static func read(_ context: Commands.Context) throws -> String? {
    let given = context.arguments.text("token")
    guard let path = context.arguments.text("token-file") else {
      return given.flatMap { $0.isEmpty ? nil : $0 }
    }
    guard given?.isEmpty ?? true else {
      throw UsageError("--token and --token-file contradict each other: give one")
    }
    let text = String(
      decoding: try SmallFile.read(path, context, naming: "--token-file"), as: UTF8.self)
    guard let line = text.split(whereSeparator: \.isNewline).first else {
      throw UsageError("--token-file \(path) has no token; write it as the first line")
    }
    return String(line)
  }
}
