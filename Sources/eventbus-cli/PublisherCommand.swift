import BusClient
import BusProtocol
import Destinations
import HTTPClient
import Primitives
import ServiceRuntime

/// `eventbus segment|mixpanel|gameanalytics|webhook`: one command for all, by their definitions.
enum PublisherCommand {
  static let entries = DestinationDefinition.all.map(entry)

  private static func entry(_ definition: DestinationDefinition) -> Commands.Entry {
    Commands.Entry(
      definition: CommandDefinition(
        name: definition.name, group: "Services", summary: definition.summary,
        options: .service + .subscriber(name: definition.name) + definition.options + delivery,
        examples: definition.examples),
      run: { context in try run(definition, context) })
  }

  private static let delivery: [OptionDefinition] = [
    .option(
      "concurrency", "N",
      help: "Requests at a time. With more than one, only the events of one user keep their order.",
      default: "1"),
    .option(
      "max-rate", "N", help: "Events a second at most. Default: as the destination takes them."),
    .option(
      "linger", "DURATION", help: "How long an event waits for others to share its request.",
      default: "50ms"),
    .option(
      "waiting-events", "N", help: "Events taken from the bus and not yet settled, at most.",
      default: "100000"),
    .option(
      "waiting-bytes", "SIZE", help: "The same in bytes. The rest waits in the journal.",
      default: "32MiB"),
    .option(
      "dead-letter-bytes", "SIZE",
      help: "Dead letters kept; beyond it the oldest go, and are logged.",
      default: "256MiB"),
    .option(
      "on-gap", "POLICY", help: "When events are missing: go on and count, or stop (exit 5).",
      default: "continue", choices: ["continue", "stop"]),
    .flag("reset", help: "Take other --events under a name that the bus knows."),
    .option(
      "timeout", "TIME", help: "How long to wait for the bus at the start.", default: "30s"),
  ]

  private static func run(
    _ definition: DestinationDefinition, _ context: Commands.Context
  ) throws -> ExitCode {
    let arguments = context.arguments
    let metrics = try ServicePorts(arguments).metrics(
      arguments, distance: definition.portDistance)
    let timeout = try arguments.value("timeout", as: Duration.self)
    let configuration = try PublisherOptions.configuration(arguments)
    let setup = try definition.setup(context)
    let log = context.log.labelled(configuration.name)
    FileLimit.raise()
    let process = try start(setup.adapter, configuration, log)
    let end = try ServiceEnd(context) { process.stop() }
    let health: HealthServer
    do {
      health = try HealthServer(
        metrics, PublisherHealth.routes(process, context.interruption), log: log)
    } catch {
      process.stop()
      process.join()
      end.finish()
      throw CommandFailure("--metrics \(metrics)", error)
    }
    if process.waitUntilOpened(deadline: timeout) {
      try Readiness.announce(
        [
          ("destination", configuration.name), ("host", setup.endpoint.host),
          ("metrics", "http://\(health.address)"),
        ], context)
    } else if process.failure == nil, !context.interruption.isRequested {
      process.stop()
      process.join()
      health.stop()
      end.finish()
      let link = process.status.link
      if link.state == .denied {
        throw CommandFailure(.failed, TerminalText.escape(link.trouble))
      }
      throw CommandFailure.unreachable(configuration.address, within: timeout)
    }
    process.join()
    health.stop()
    end.finish()
    if let failure = process.failure { throw Self.failure(failure) }
    return .done
  }

  private static func start(
    _ adapter: some DestinationAdapter, _ configuration: DeliveryProcessConfiguration, _ log: Log
  ) throws -> DeliveryProcess {
    do throws(DeliveryFailure) {
      return try DeliveryProcess(
        adapter, configuration, describe: { "\(PublisherStatus.json($0))" },
        report: { log.note($0) })
    } catch { throw failure(error) }
  }

  private static func failure(_ failure: DeliveryFailure) -> CommandFailure {
    switch failure {
    case .inUse(let text): CommandFailure(.dataDirectoryInUse, text)
    case .store(let error): CommandFailure(.diskError, "\(error)")
    case .bus(let error):
      switch error {
      case .fenced:
        CommandFailure(.fenced, "another publisher took over its --name at the bus")
      case .gap: CommandFailure(.gap, "\(error)")
      default: CommandFailure(.failed, "\(error)")
      }
    case .system(let text): CommandFailure(.failed, text)
    }
  }
}

/// The options that all publishers share, as their configuration.
enum PublisherOptions {
  static func configuration(
    _ arguments: Arguments
  ) throws(UsageError) -> DeliveryProcessConfiguration {
    let ports = try ServicePorts(arguments)
    var configuration = DeliveryProcessConfiguration(
      address: try ports.bus(arguments),
      name: try arguments.requiredText("name"), data: try arguments.requiredText("data"))
    guard (1...80).contains(configuration.name.utf8.count) else {
      throw UsageError("--name must have 1 to 80 bytes: it names the cursor and a folder")
    }
    configuration.filters = try arguments.nameFilters()
    // A provider's own address has no use for it.
    configuration.marksRequests = arguments.isGiven("endpoint")
    configuration.start = try StartText.position(
      try arguments.requiredText("start"), naming: "--start")
    configuration.onGap = arguments.text("on-gap") == "stop" ? .stop : .continue
    configuration.deadLetterBytes = try arguments.value(
      "dead-letter-bytes", in: ByteSize(bytes: 1 << 20)...ByteSize(bytes: 1 << 40)
    ).bytes
    // Ends before the process is ended.
    configuration.grace = try arguments.value("grace", as: Duration.self) * 8 / 10
    configuration.takesOtherFilters = arguments.flag("reset")
    configuration.http.certificateFile = arguments.text("ca-file")
    configuration.delivery.concurrency = try arguments.value("concurrency", in: 1...64)
    // Each lane keeps its connection.
    configuration.http.idleConnections = max(4, configuration.delivery.concurrency)
    configuration.delivery.linger = try arguments.value(
      "linger", in: Duration.zero...Duration.seconds(60))
    configuration.delivery.waitingEvents = try arguments.value(
      "waiting-events", in: 100...10_000_000)
    configuration.delivery.waitingBytes = try arguments.value(
      "waiting-bytes", in: ByteSize(bytes: 1 << 20)...ByteSize(bytes: 1 << 32)
    ).bytes
    configuration.delivery.eventsPerSecond = try arguments.optional(
      "max-rate", in: 1...100_000_000
    ).map { Double($0) }
    return configuration
  }
}
