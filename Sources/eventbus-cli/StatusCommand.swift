import BusClient
import ServiceRuntime

/// `eventbus status`.
enum StatusCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "status", group: "Administration",
      summary: "Shows the broker, event names, producers, subscribers, refusals and destinations.",
      options: Administration.options + [
        .option(
          "data", "DIR", help: "Where the publishers keep their state.",
          default: "./eventbus-data")
      ],
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
    let data = try context.arguments.requiredText("data")
    Terminal.output(
      isJSON
        ? "\(ControlJSON.json(status))".dropLast()
          + ",\"destinations\":\(DestinationStates.json(data: data))}\n"
        : StatusText.text(status) + DestinationStates.text(data: data))
    return .done
  }
}
