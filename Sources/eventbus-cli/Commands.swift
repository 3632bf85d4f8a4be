import BusClient
import ServiceRuntime

/// The program's commands: what each is called, and what runs it.
enum Commands {
  static let version = "0.1.0"

  /// Everything a command gets to work with.
  struct Context: Sendable {
    let arguments: Arguments
    let environment: [String: String]
    let interruption: Interruption
    let log: Log
  }

  /// A command with the code behind it.
  struct Entry: Sendable {
    let definition: CommandDefinition
    let run: @Sendable (Context) throws -> ExitCode
  }

  static let all: [Entry] =
    [
      UpCommand.entry, BrokerCommand.entry, PublishCommand.entry, TailCommand.entry,
      BenchCommand.entry, BenchWorkerCommand.entry, StatusCommand.entry, TopCommand.entry,
      DoctorCommand.entry, DemoGamesCommand.entry,
      CollectorCommand.entry, ArchiverCommand.entry,
      AggregatorCommand.entry, RecomputeCommand.entry, ReportCommand.entry,
    ] + PublisherCommand.entries + DeadLettersCommands.entries + ConsumersCommands.entries
    + JournalCommands.entries + KeysCommands.entries + ArchiveCommands.entries
    + HelpCommands.entries
    + PlanCommands.entries

  static let parser = CommandLineParser(
    program: "eventbus", version: version,
    commands: all.map { CommandManual.completed($0.definition) })

  static func run(
    _ arguments: Arguments, _ environment: [String: String], _ interruption: Interruption
  ) -> ExitCode {
    let log = Log(
      level: arguments.text("log-level").flatMap { LogLevel(name: $0) } ?? .info,
      format: arguments.text("log-format").flatMap { LogFormat(rawValue: $0) } ?? .text,
      environment: environment)
    let context = Context(
      arguments: arguments, environment: environment, interruption: interruption, log: log)
    guard let entry = all.first(where: { $0.definition.name == arguments.command.name }) else {
      Terminal.error("eventbus: \(arguments.command.name) cannot be run")
      return .failed
    }
    do {
      try BusEnvironment.checkAddress(arguments)
      try ClientKeys.use(arguments)
      return try entry.run(context)
    } catch let error as UsageError {
      return usage("\(error)", arguments, environment)
    } catch BusClientError.configuration(let text) {
      return usage(text, arguments, environment)
    } catch let error as CommandFailure {
      if error.code == .usage { return usage(error.text, arguments, environment) }
      Terminal.error("eventbus \(arguments.command.name): \(error.text)")
      if error.isFinal { SupervisedChild.sayFinal(environment: environment) }
      return error.code
    } catch {
      Terminal.error("eventbus \(arguments.command.name): \(error)")
      return .failed
    }
  }

  /// Whoever typed none of it looks for the value in the environment.
  private static func usage(
    _ text: String, _ arguments: Arguments, _ environment: [String: String]
  ) -> ExitCode {
    let source = arguments.variable(quotedIn: text, of: environment).map { " (from \($0))" } ?? ""
    Terminal.error("eventbus \(arguments.command.name): \(text)\(source)")
    return .usage
  }
}
