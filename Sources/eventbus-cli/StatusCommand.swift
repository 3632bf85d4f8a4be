import BusClient
import ServiceRuntime

/// `eventbus status`.
enum StatusCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "status", group: "Administration",
      summary: "Shows the broker, event names, producers, subscribers and what was refused.",
      options: Administration.options,
      examples: [
        CommandExample("eventbus status", "Of the bus on its usual port."),
        CommandExample(
          "eventbus status --json --bus tcp://127.0.0.1:9400", "Of another one, for a script."),
      ]),
    run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let status = try Administration.ask(context.arguments) { bus throws(BusClientError) in
      try bus.status()
    }
    let isJSON = context.arguments.flag("json")
    Terminal.output(isJSON ? "\(ControlJSON.json(status))\n" : StatusText.text(status))
    return .done
  }
}
