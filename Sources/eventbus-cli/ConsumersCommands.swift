import BusClient
import BusProtocol
import ServiceRuntime

/// `eventbus consumers list|show|seek|pause|resume|delete`: the named subscribers and their cursors.
enum ConsumersCommands {
  static let entries: [Commands.Entry] = [
    entry(
      "list", "Lists the named subscribers with cursor and lag.", [],
      ["eventbus consumers list", "eventbus consumers list --json"], list),
    entry(
      "show", "Shows one named subscriber.", [name],
      ["eventbus consumers show archiver", "eventbus consumers show archiver --json"]
    ) { context in
      try change(context) { bus, name throws(BusClientError) in try bus.show(name) }
    },
    entry(
      "seek", "Moves a subscriber's cursor; a connected one goes on there.", [name, place],
      ["eventbus consumers seek webhook earliest", "eventbus consumers seek webhook 2h"], seek),
    entry(
      "pause", "Hands a subscriber nothing until it is resumed.", [name],
      ["eventbus consumers pause webhook", "eventbus consumers pause webhook --json"]
    ) { context in
      try change(context) { bus, name throws(BusClientError) in try bus.pause(name) }
    },
    entry(
      "resume", "Lets a paused subscriber go on.", [name],
      ["eventbus consumers resume webhook", "eventbus consumers resume webhook --json"]
    ) { context in
      try change(context) { bus, name throws(BusClientError) in try bus.resume(name) }
    },
    entry(
      "delete", "Forgets a subscriber that is not connected, and its hold on the journal.", [name],
      ["eventbus consumers delete old-tail", "eventbus consumers delete old-tail --json"], delete),
  ]

  private static let name = PositionalDefinition("NAME", help: "The subscriber's name.")
  private static let place = PositionalDefinition(
    "WHERE", help: "earliest, latest, an offset, a time, or an age as 10m.")

  private static func entry(
    _ word: String, _ summary: String, _ positionals: [PositionalDefinition], _ examples: [String],
    _ run: @escaping @Sendable (Commands.Context) throws -> ExitCode
  ) -> Commands.Entry {
    let explanations = ["On the usual port.", word == "seek" ? "By age." : "For a script."]
    return Commands.Entry(
      definition: CommandDefinition(
        name: "consumers \(word)", group: "Administration", summary: summary,
        positionals: positionals, options: Administration.options,
        examples: zip(examples, explanations).map { CommandExample($0, $1) }),
      run: run)
  }

  private static func list(_ context: Commands.Context) throws -> ExitCode {
    let consumers = try Administration.ask(context.arguments) { bus throws(BusClientError) in
      try bus.consumers()
    }
    if context.arguments.flag("json") {
      let list = JSONText.list(consumers.map(ControlJSON.json))
      Terminal.output("\(JSONText.object([.init("consumers", list)]))\n")
    } else if consumers.isEmpty {
      Terminal.output("no named subscribers\n")
    } else {
      Terminal.output(StatusText.consumers(consumers).text)
    }
    return .done
  }

  private static func seek(_ context: Commands.Context) throws -> ExitCode {
    let target = try StartText.position(context.arguments.positionals[1], naming: "WHERE")
    return try change(context, note: { note($0, asked: target) }) {
      bus, name throws(BusClientError) in
      try bus.seek(name, to: target)
    }
  }

  /// What to say when the cursor stands elsewhere than where it was asked to.
  private static func note(_ consumer: ControlMap, asked target: StartPosition) -> String? {
    guard case .offset(let wanted) = target else { return nil }
    let cursor = consumer.number("cursor")
    if wanted > cursor {
      return
        "offset \(wanted) lies beyond the end of the journal: the cursor is at \(cursor), its head"
    }
    if wanted < cursor {
      return
        "offset \(wanted) is not kept any more: the cursor is at \(cursor), the oldest there is"
    }
    return nil
  }

  private static func delete(_ context: Commands.Context) throws -> ExitCode {
    let name = context.arguments.positionals[0]
    try Administration.ask(context.arguments) { bus throws(BusClientError) in try bus.delete(name) }
    let isJSON = context.arguments.flag("json")
    let line = JSONText.object([.init("deleted", .text(name))])
    Terminal.output(isJSON ? "\(line)\n" : "deleted \(TerminalText.escape(name))\n")
    return .done
  }

  /// Asks about one subscriber and prints how it then is.
  private static func change(
    _ context: Commands.Context, note: (ControlMap) -> String? = { _ in nil },
    _ body: (inout BusAdministration, String) throws(BusClientError) -> ControlMap
  ) throws -> ExitCode {
    let name = context.arguments.positionals[0]
    let consumer = try Administration.ask(context.arguments) { bus throws(BusClientError) in
      try body(&bus, name)
    }
    if let note = note(consumer) { Terminal.error(note) }
    let isJSON = context.arguments.flag("json")
    Terminal.output(
      isJSON ? "\(ControlJSON.json(consumer))\n" : StatusText.consumers([consumer]).text)
    return .done
  }
}
