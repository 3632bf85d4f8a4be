import Database
import Destinations
import EventCodec
import Primitives
import ServiceRuntime

/// `eventbus deadletters list|show|edit|redrive|drop`: what destinations refused. All of it works beside
/// the running publisher, on the destination's state file.
enum DeadLettersCommands {
  static let entries: [Commands.Entry] = [list, show, edit, redrive, drop]

  private static let selection: [OptionDefinition] = [
    .repeated("where", "CONDITION", help: "PATH=VALUE, also !=, <, <=, >, >= and ~ (contains)."),
    .repeated("id", "ID", help: "Only these."),
    .repeated("reason", "TEXT", help: "Only those whose reason contains it."),
  ]

  private static let common: [OptionDefinition] = [
    .option("destination", "NAME", help: "The publisher's --name: segment, for example."),
    .option(
      "data", "DIR", help: "The publisher's data directory.", default: "./eventbus-data"),
    .flag("json", help: "JSON on stdout, for scripts."),
  ]

  private static let dryRun = OptionDefinition.flag(
    "dry-run", help: "Say what would be done, and do nothing.")

  private static let list = Commands.Entry(
    definition: CommandDefinition(
      name: "deadletters list", group: "Administration",
      summary: "Lists the dead letters of a destination, oldest first.",
      options: common + selection + [
        .option("limit", "N", help: "At most so many.", default: "1000")
      ],
      examples: [
        CommandExample("eventbus deadletters list --destination segment", "All of them."),
        CommandExample(
          "eventbus deadletters list --destination segment --where properties.plan=pro --json",
          "Some, whole, one a line."),
      ]),
    run: { context in
      let selected = try DeadLetterSelection(context.arguments)
      let limit = try context.arguments.value("limit", in: 1...1_000_000)
      let database = try selected.openReadOnly()
      let asJSON = context.arguments.flag("json")
      var table = DeadLetterText.table
      var count = 0
      try selected.forEach(database, limit: limit + 1) { letter in
        count += 1
        guard count <= limit else { return }
        if asJSON {
          Terminal.output(DeadLetterText.json(letter) + "\n")
        } else {
          table.append(DeadLetterText.row(letter))
        }
      }
      if !asJSON { Terminal.output(table.isEmpty ? "no dead letters\n" : table.text) }
      if count > limit { Terminal.error("there are more: these are the first \(limit) (--limit)") }
      if asJSON { return .done }
      let totals = try DeadLetters.totals(database)
      if totals.dropped > 0 {
        Terminal.error("\(totals.dropped) older ones were dropped at --dead-letter-bytes")
      }
      return .done
    })

  private static let show = Commands.Entry(
    definition: CommandDefinition(
      name: "deadletters show", group: "Administration",
      summary: "Shows dead letters whole: event, request, answer.",
      positionals: [PositionalDefinition("ID", help: "As `list` shows it.")], options: common,
      examples: [
        CommandExample("eventbus deadletters show 7 --destination segment", "One."),
        CommandExample(
          "eventbus deadletters show 7 --destination segment --json", "For a script."),
      ]),
    run: { context in
      let selected = try DeadLetterSelection(context.arguments)
      let letter = try selected.find(context.arguments.positionals[0])
      Terminal.output(
        context.arguments.flag("json")
          ? DeadLetterText.json(letter) + "\n" : DeadLetterText.whole(letter))
      return .done
    })

  private static let edit = Commands.Entry(
    definition: CommandDefinition(
      name: "deadletters edit", group: "Administration",
      summary: "Puts a corrected event in a dead letter's place, to be sent again by `redrive`. "
        + "What it lacks of messageId and timestamp stays the letter's.",
      positionals: [
        PositionalDefinition("ID", help: "As `list` shows it."),
        PositionalDefinition("FILE", help: "The event as one JSON object; - for stdin."),
      ],
      options: common + [dryRun],
      examples: [
        CommandExample(
          "eventbus deadletters edit 7 event.json --destination segment", "From a file."),
        CommandExample(
          "jq '.event.userId=\"u1\" | .event' 7.json | eventbus deadletters edit 7 - --destination segment",
          "From `show --json`, mended."),
      ]),
    run: DeadLetterChanges.edit)

  private static let redrive = Commands.Entry(
    definition: CommandDefinition(
      name: "deadletters redrive", group: "Administration",
      summary: "Has dead letters sent again, by the running publisher or at its next start.",
      options: common + selection + [dryRun],
      examples: [
        CommandExample("eventbus deadletters redrive --destination segment", "All of them."),
        CommandExample(
          "eventbus deadletters redrive --destination segment --where event='Game Ended' --dry-run",
          "How many it would be."),
      ]),
    run: { context in
      try DeadLetterChanges.change(context, did: "queued") { id, database throws(DatabaseError) in
        try DeadLetters.queue(id, in: database)
      }
    })

  private static let drop = Commands.Entry(
    definition: CommandDefinition(
      name: "deadletters drop", group: "Administration",
      summary: "Erases dead letters for ever; without a condition all of the destination's.",
      options: common + selection + [dryRun],
      examples: [
        CommandExample(
          "eventbus deadletters drop --destination segment --id 7 --id 8", "Two of them."),
        CommandExample(
          "eventbus deadletters drop --destination segment --dry-run", "How many there are."),
      ]),
    run: { context in
      try DeadLetterChanges.change(context, did: "dropped") { id, database throws(DatabaseError) in
        try DeadLetters.drop(id, in: database)
      }
    })
}
