/// A command of the program, as data.
public struct CommandDefinition: Sendable {
  /// The words that call it: `tail`, `archive query`.
  public var name: String
  /// The heading under which the list of commands shows it.
  public var group: String
  /// One sentence for the list and the head of its help.
  public var summary: String
  /// The positional arguments in order.
  public var positionals: [PositionalDefinition]
  public var options: [OptionDefinition]
  /// Sets of options of which at most one may be given.
  public var exclusive: [[String]]
  public var examples: [CommandExample]
  /// Paragraphs for `help COMMAND` and the manual page, behind the summary.
  public var details: [String] = []
  /// What it may exit with, besides being ended by a signal.
  public var exitCodes: [ExitCode] = [.done, .failed, .usage]
  /// Left out of the list of commands: for what other commands start.
  public var isHidden = false

  /// Adds the options every command has (`help`, `version`, `bus` and its keys, the log's); an
  /// option of the same name in `options` takes the place of a common one.
  public init(
    name: String, group: String, summary: String, positionals: [PositionalDefinition] = [],
    options: [OptionDefinition] = [], exclusive: [[String]] = [], examples: [CommandExample] = []
  ) {
    let common: [OptionDefinition] = [
      .bus, .curveKey, .serverKey, .logLevel, .logFormat, .help, .version,
    ]
    let own = Set(options.map(\.name))
    precondition(own.count == options.count, "an option of \(name) is defined twice")
    self.name = name
    self.group = group
    self.summary = summary
    self.positionals = positionals
    self.options = options + common.filter { !own.contains($0.name) }
    self.exclusive = exclusive
    self.examples = examples
    for option in exclusive.joined() {
      precondition(self.option(option) != nil, "\(name) has no option \(option) to exclude")
    }
  }

  public func option(_ name: String) -> OptionDefinition? {
    options.first { $0.name == name }
  }

  var words: [String] { name.split(separator: " ").map(String.init) }
}

/// An argument without a name.
public struct PositionalDefinition: Hashable, Sendable {
  public enum Count: Sendable {
    case one, optional
    /// Any number, none included; only as the last argument.
    case many
  }
  public var name: String
  public var help: String
  public var count: Count
  /// What one usually writes there, for completion; others are not refused by it.
  public var choices: [String]

  public init(_ name: String, help: String, count: Count = .one, choices: [String] = []) {
    self.name = name
    self.help = help
    self.count = count
    self.choices = choices
  }
}

/// A command to copy, and what it does.
public struct CommandExample: Hashable, Sendable {
  public var command: String
  public var explanation: String

  public init(_ command: String, _ explanation: String) {
    self.command = command
    self.explanation = explanation
  }
}
