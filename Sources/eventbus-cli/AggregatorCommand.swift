import Aggregation
import BusClient
import BusProtocol
import Dashboard
import HTTPServer
import Primitives
import ServiceRuntime

/// `eventbus aggregator`.
enum AggregatorCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "aggregator", group: "Services",
      summary: "Counts events in reports, shows them on a page and answers questions about them.",
      options: .service + .subscriber(name: "aggregator") + [
        .option(
          "reports", "FILE",
          help: "JSON: what to count besides the usual reports. Changes take effect by themselves."),
        .option(
          "listen", "HOST:PORT",
          help:
            "Where the page is and reports are asked for. Default: 127.0.0.1, twenty above the bus."
        ),
        .option(
          "token", "TOKEN",
          help: "What one must show on the page, or send as bearer token; needed on other than "
            + "loopback. EVENTBUS_TOKEN is safer than a command line, which others see."
        ).secret,
        .option("token-file", "FILE", help: "The token as the first line of a file."),
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
    let token = try AggregatorToken.read(context)
    let listen = try listen(arguments, ports, token)
    let configuration = try configuration(arguments, ports)
    FileLimit.raise()
    let aggregator: Aggregator
    do throws(AggregatorError) {
      aggregator = try Aggregator(configuration) { log.note($0) }
    } catch { throw failure(error) }
    let end = try ServiceEnd(context) { aggregator.stop() }
    let page: AggregatorPage
    do {
      page = try AggregatorPage(
        aggregator, context, token: token, listen: listen,
        bus: configuration.bus, portBase: ports.base)
    } catch {
      aggregator.stop()
      aggregator.join()
      end.finish()
      throw error
    }
    try Readiness.announce([("listen", page.address), ("metrics", page.metricsAddress)], context)
    aggregator.join()
    page.stop()
    end.finish()
    guard let failure = aggregator.failure else { return .done }
    throw self.failure(failure)
  }

  private static func listen(
    _ arguments: Arguments, _ ports: ServicePorts, _ token: String?
  ) throws(UsageError) -> HostPort {
    let usual = HostPort(host: "127.0.0.1", port: ports.base == 0 ? 0 : UInt16(ports.base + 20))
    let listen = try arguments.optional("listen", as: HostPort.self) ?? usual
    guard let token else {
      try ServicePorts.requireLoopback(
        listen.host, "--listen \(listen)", arguments, otherwise: "give --token")
      return listen
    }
    if Loopback.contains(listen.host) || arguments.flag("insecure") { return listen }
    guard token.utf8.count >= DashboardAccess.leastTokenBytes else {
      throw UsageError(
        "--token has fewer than \(DashboardAccess.leastTokenBytes) characters, too few where other "
          + "machines can guess: `openssl rand -hex 16` makes a good one")
    }
    return listen
  }

  private static func configuration(
    _ arguments: Arguments, _ ports: ServicePorts
  ) throws -> AggregatorConfiguration {
    var configuration = AggregatorConfiguration(
      bus: try ports.bus(arguments), directory: "\(try arguments.requiredText("data"))/aggregator")
    configuration.name = try arguments.requiredText("name")
    configuration.filters = try arguments.nameFilters()
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
}
