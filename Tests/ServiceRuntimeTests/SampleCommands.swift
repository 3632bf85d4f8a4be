import ServiceRuntime

/// A small program for the parser's tests.
enum SampleCommands {
  static let tail = CommandDefinition(
    name: "tail", group: "Events", summary: "Prints events as they come.",
    positionals: [PositionalDefinition("PATTERN", help: "Names to show.", count: .many)],
    options: [
      .option("since", "WHEN", help: "Where to begin.", default: "latest"),
      .option("count", "N", help: "Stop after N events."),
      .option("format", "FORMAT", help: "pretty or ndjson.", choices: ["pretty", "ndjson"]),
      .repeated("exact", "NAME", help: "A name taken byte for byte."),
      .flag("live", help: "Without storage."),
      .flag("until-end", help: "Stop at the end."),
    ],
    exclusive: [["live", "until-end"]],
    examples: [
      CommandExample("eventbus tail 'Signed *'", "Names that begin with \"Signed \"."),
      CommandExample("eventbus tail --count 3", "The next three events."),
    ])
  static let broker = CommandDefinition(
    name: "broker", group: "Services", summary: "Takes, keeps and hands out events.",
    options: [
      .option("retention-bytes", "SIZE", help: "Space for the journal.", default: "10GiB"),
      .option("retention-age", "DURATION", help: "Oldest events kept.", default: "7d"),
      .option("metrics", "HOST:PORT", help: "Where to serve metrics."),
    ])
  static let query = CommandDefinition(
    name: "archive query", group: "Archive", summary: "Finds events.",
    options: [.option("dir", "DIR", help: "The archive.")])
  static let verify = CommandDefinition(
    name: "archive verify", group: "Archive", summary: "Checks files.",
    positionals: [PositionalDefinition("FILE", help: "The file to check.")])

  static let parser = CommandLineParser(
    program: "eventbus", version: "1.2.3", commands: [tail, broker, query, verify])

  static func run(
    _ words: [String], _ environment: [String: String] = [:]
  ) throws(UsageError) -> Arguments {
    switch try parser.parse(words, environment: environment) {
    case .run(let arguments): return arguments
    case .show(let text): throw UsageError("shows " + text)
    }
  }
}
