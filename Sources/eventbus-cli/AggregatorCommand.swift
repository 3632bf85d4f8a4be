import Aggregation
import BusClient
import BusProtocol
import HTTPServer
import Primitives
import ServiceRuntime

/// `eventbus aggregator`.
enum AggregatorCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "aggregator", group: "Services",
      summary: "Counts events in reports and answers questions about them.",
      options: .service + .subscriber(name: "aggregator") + [
        .option(
          "reports", "FILE",
          help: "JSON: what to count besides the usual reports. Changes take effect by themselves."),
        .option(
          "listen", "HOST:PORT",
          help: "Where reports are asked for. Default: 127.0.0.1, twenty above the bus."),
        .option(
          "token", "TOKEN",
          help: "What who asks must send as bearer token; needed on other than loopback. "
            + "EVENTBUS_TOKEN is safer than a command line, which others see."),
      ],
      examples: [
        CommandExample("eventbus aggregator", "The usual reports of everything on the bus."),
        CommandExample(
          "eventbus aggregator --reports reports.json --events 'Game *'",
          "Reports of one's own, over some names."),
      ]),
    run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let arguments = context.arguments
    let ports = try ServicePorts(arguments)
    let log = context.log.labelled("aggregator")
    let listen = try listen(arguments, ports)
    FileLimit.raise()
    let aggregator: Aggregator
    do {
      aggregator = try Aggregator(try configuration(arguments, ports)) { write($0, to: log) }
    } catch let error as AggregatorError {
      throw failure(error)
    }
    let end = try ServiceEnd(context) { aggregator.stop() }
    let routes = AggregatorRoutes(
      aggregator, token: arguments.text("token"),
      health: AggregatorHealth.routes(aggregator, context.interruption))
    let servers: (HTTPServer, HealthServer?)
    do {
      servers = try serve(routes, listen, arguments)
    } catch {
      aggregator.stop()
      aggregator.join()
      end.finish()
      throw error
    }
    let address = "http://\(HostPort(host: listen.host, port: servers.0.port))"
    try Readiness.announce(
      [("listen", address), ("metrics", servers.1.map { "http://\($0.address)" } ?? address)],
      context)
    aggregator.join()
    servers.0.stop()
    servers.1?.stop()
    end.finish()
    guard let failure = aggregator.failure else { return .done }
    throw self.failure(failure)
  }

  private static func serve(
    _ routes: AggregatorRoutes, _ listen: HostPort, _ arguments: Arguments
  ) throws -> (HTTPServer, HealthServer?) {
    let server: HTTPServer
    do {
      // One thread: answers are read one after another from one connection to the file.
      server = try HTTPServer(
        host: listen.host, port: listen.port, limits: HTTPLimits(bodyBytes: 0)
      ) { routes.answer($0) }
    } catch { throw CommandFailure(.failed, "--listen \(listen): \(error)") }
    guard let metrics = try arguments.optional("metrics", as: HostPort.self) else {
      return (server, nil)
    }
    do {
      return (server, try HealthServer(metrics, routes.health))
    } catch { throw CommandFailure(.failed, "--metrics \(metrics): \(error)") }
  }

  private static func listen(
    _ arguments: Arguments, _ ports: ServicePorts
  ) throws(UsageError) -> HostPort {
    let usual = HostPort(host: "127.0.0.1", port: ports.base == 0 ? 0 : UInt16(ports.base + 20))
    let listen = try arguments.optional("listen", as: HostPort.self) ?? usual
    let isLoopback = listen.host.hasPrefix("127.") || ["localhost", "::1"].contains(listen.host)
    if !isLoopback, arguments.text("token")?.isEmpty ?? true {
      throw UsageError(
        "--listen \(listen) is open to other machines: give --token, or listen on 127.0.0.1")
    }
    return listen
  }

  private static func configuration(
    _ arguments: Arguments, _ ports: ServicePorts
  ) throws -> AggregatorConfiguration {
    let isGiven = arguments.isGiven("bus") || ports.base == 0
    let bus = isGiven ? try arguments.requiredText("bus") : "tcp://127.0.0.1:\(ports.base)"
    var configuration = AggregatorConfiguration(
      bus: bus, directory: "\(try arguments.requiredText("data"))/aggregator")
    configuration.name = try arguments.requiredText("name")
    configuration.filters =
      arguments.texts("events").map { NameFilter(.glob, $0) }
      + arguments.texts("exact").map { NameFilter(.exact, $0) }
    configuration.start = try StartText.position(
      try arguments.requiredText("start"), naming: "--start")
    configuration.reports = arguments.text("reports")
    return configuration
  }

  static func failure(_ error: AggregatorError) -> CommandFailure {
    let code: ExitCode =
      switch error {
      case .inUse: .dataDirectoryInUse
      case .database, .damaged: .diskError
      case .reportFile: .usage
      case .bus(.fenced): .fenced
      case .bus, .system: .failed
      }
    return CommandFailure(code, TerminalText.escape("\(error)"))
  }

  private static func write(_ report: AggregatorReport, to log: Log) {
    let field = LogField("event", .text(report.key))
    switch report.level {
    case .info: log.info(report.text, field)
    case .warning: log.warning(report.text, field)
    case .error: log.error(report.text, field)
    }
  }
}
