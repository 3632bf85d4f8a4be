import Archive
import BusProtocol
import Primitives
import ServiceRuntime
import SinkState

/// `eventbus archiver`.
enum ArchiverCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "archiver", group: "Services",
      summary: "Writes the events of the bus to compressed files that any tool reads.",
      options: .service + .subscriber(name: "archiver") + [
        .option(
          "dir", "DIR", help: "The archive, made if it is missing. Default: archive below --data."),
        .option(
          "roll-bytes", "SIZE", help: "Bytes at which a file is finished.", default: "64MiB"),
        .option("roll-age", "DURATION", help: "Age at which a file is finished.", default: "5m"),
        .option(
          "doubles-horizon", "N",
          help: "An event of the same name and messageId within so many offsets is stored once.",
          default: "4000000"),
        .flag("reset", help: "Take other patterns than those known under this name."),
      ],
      examples: [
        CommandExample("eventbus archiver --dir /var/lib/archive", "Everything, for years."),
        CommandExample(
          "eventbus archiver --dir games --name games --events 'Game *'",
          "Some names only, beside another archiver."),
      ]),
    run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let configuration = try configuration(context.arguments)
    let metrics = try ServicePorts(context.arguments).metrics(context.arguments, distance: 30)
    let log = context.log.labelled("archiver")
    let archiver = try open(configuration, log)
    let end = try ServiceEnd(context) { archiver.stop() }
    let health: HealthServer
    do {
      health = try HealthServer(
        metrics, ArchiverHealth.routes(archiver, context.interruption), log: log)
    } catch {
      archiver.stop()
      archiver.join()
      end.finish()
      throw CommandFailure("--metrics \(metrics)", error)
    }
    if archiver.waitUntilReady() {
      try Readiness.announce(
        [("dir", configuration.directory), ("metrics", "http://\(health.address)")], context)
    }
    archiver.join()
    health.stop()
    end.finish()
    return try ended(archiver)
  }

  private static func open(
    _ configuration: ArchiverConfiguration, _ log: Log
  ) throws -> Archiver {
    do throws(ArchiveError) {
      return try Archiver(configuration) { log.note($0) }
    } catch {
      // What cannot be opened at the start is for whoever started it: all of it is the disk's.
      throw CommandFailure(error.kind == .inUse ? .dataDirectoryInUse : .diskError, error.text)
    }
  }

  private static func ended(_ archiver: Archiver) throws -> ExitCode {
    switch archiver.failure {
    case nil: return .done
    case .archive(let error): throw CommandFailure(error)
    case .fenced: throw CommandFailure(.fenced, "another archiver took over its --name at the bus")
    case .bus(let text): throw CommandFailure(.failed, text)
    }
  }

  private static func configuration(_ arguments: Arguments) throws(UsageError)
    -> ArchiverConfiguration
  {
    let data = try arguments.requiredText("data")
    let ports = try ServicePorts(arguments)
    var configuration = ArchiverConfiguration(
      directory: arguments.text("dir") ?? data + "/archive",
      address: try ports.bus(arguments))
    configuration.name = try arguments.requiredText("name")
    configuration.filters = try arguments.nameFilters()
    configuration.takesOtherFilters = arguments.flag("reset")
    configuration.start = try StartText.position(
      try arguments.requiredText("start"), naming: "--start")
    configuration.limits.bytes = UInt64(
      try arguments.value(
        "roll-bytes", in: ByteSize(bytes: 64 << 10)...ByteSize(bytes: 4 << 30)
      ).bytes)
    configuration.limits.age = try arguments.value("roll-age", as: Duration.self)
    configuration.horizon = try arguments.value("doubles-horizon", in: 1...Doubles.largestHorizon)
    return configuration
  }
}
