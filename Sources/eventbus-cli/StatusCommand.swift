import BusClient
import BusProtocol
import Primitives
import ServiceRuntime

/// `eventbus status`.
enum StatusCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "status", group: "Administration",
      summary: "Shows the broker, event names, producers, subscribers, refusals and destinations.",
      options: Administration.options + [
        .option(
          "data", "DIR",
          help: "Where the publishers keep their state. Default: where the broker keeps its own.")
      ],
      examples: [
        CommandExample("eventbus status", "Of the bus on its usual port."),
        CommandExample(
          "eventbus status --json --bus tcp://127.0.0.1:9400", "Of another one, for a script."),
      ]),
    run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    try CommandFailure.checkTyped(["data"], context.arguments)
    let status = try Administration.ask(context.arguments) { bus throws(BusClientError) in
      try bus.status()
    }
    let place = place(status, context.arguments)
    Terminal.output(
      context.arguments.flag("json")
        ? "\(ControlJSON.json(status))".dropLast() + ",\"destinations\":\(json(place))}\n"
        : StatusText.text(status) + text(place))
    return .done
  }

  /// Where to look for destinations.
  private enum Place {
    case directory(String)
    /// Nowhere, and why.
    case unknown(String)
  }

  /// What was said, else the directory of a broker on this machine: `up` has all in one.
  private static func place(_ status: ControlMap, _ arguments: Arguments) -> Place {
    if let given = arguments.text("data") {
      do throws(SystemError) {
        _ = try Folders.isThere(given + "/destinations")
        return .directory(given)
      } catch { return .unknown("\(error)") }
    }
    let directory = status.text("directory")
    let host = arguments.text("bus").flatMap(BusEnvironment.place)?.host ?? ""
    guard Loopback.contains(host) else { return .unknown("the bus is on another machine") }
    guard !directory.isEmpty, SmallFile.exists(directory) else {
      return .unknown("the broker's own directory cannot be seen from here")
    }
    return .directory(directory)
  }

  private static func text(_ place: Place) -> String {
    switch place {
    case .directory(let data): DestinationStates.text(data: data)
    case .unknown(let why):
      "\nDestinations: not looked at: \(why); --data DIR says where publishers keep their state\n"
    }
  }

  /// null: not looked at.
  private static func json(_ place: Place) -> String {
    switch place {
    case .directory(let data): DestinationStates.json(data: data)
    case .unknown: "null"
    }
  }
}
