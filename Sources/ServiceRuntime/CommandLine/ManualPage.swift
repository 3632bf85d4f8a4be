/// The whole of what there is to say about a command, from its definition: for `help COMMAND` as text, for
/// `man` as roff.
public struct ManualPage: Sendable {
  /// A part under a heading.
  struct Section: Sendable {
    enum Item: Sendable {
      case paragraph(String)
      /// A term and what it means.
      case entry(String, String)
      /// To copy as it is, and what it does.
      case example(String, String)
    }
    var title: String
    var items: [Item]
  }

  let name: String
  let summary: String
  let version: String
  let usage: String
  let sections: [Section]

  public init(_ command: CommandDefinition, of parser: CommandLineParser) {
    let program = parser.program
    name = "\(program)-\(command.words.joined(separator: "-"))"
    summary = command.summary
    version = "\(program) \(parser.version)"
    usage = HelpText.usage(command, program: program)
    let description = Section(
      title: "Description", items: ([command.summary] + command.details).map { .paragraph($0) })
    sections =
      [
        description, Self.arguments(command), Self.options(command),
        Self.environment(command), Self.exitCodes(command.exitCodes), Self.examples(command),
        Self.related(command, parser),
      ].filter { !$0.items.isEmpty }
  }

  /// The page of the whole program.
  public init(of parser: CommandLineParser, summary: String) {
    name = parser.program
    self.summary = summary
    version = "\(parser.program) \(parser.version)"
    usage = "\(parser.program) COMMAND [OPTION]..."
    let commands = parser.commands.filter { !$0.isHidden }
    var groups: [String] = []
    for command in commands where !groups.contains(command.group) { groups.append(command.group) }
    sections =
      groups.map { group in
        Section(
          title: group,
          items: commands.filter { $0.group == group }.map { .entry($0.name, $0.summary) })
      } + [Self.exitCodes(ExitCode.allCases)]
  }

  private static func arguments(_ command: CommandDefinition) -> Section {
    Section(title: "Arguments", items: command.positionals.map { .entry($0.name, $0.help) })
  }

  private static func options(_ command: CommandDefinition) -> Section {
    Section(
      title: "Options",
      items: command.options.map { option in
        var help = HelpText.description(of: option)
        if !option.choices.isEmpty, !option.help.contains(option.choices[0]) {
          help += " One of: " + option.choices.joined(separator: ", ") + "."
        }
        return .entry(HelpText.label(of: option), help)
      })
  }

  /// Options given once for one call (`help`) are not read from there.
  private static func environment(_ command: CommandDefinition) -> Section {
    let options = command.options.filter { $0.name != "help" && $0.name != "version" }
    return Section(
      title: "Environment",
      items: [
        .paragraph(
          "Each option is read from a variable where the command line does not give it: "
            + options.flatMap(\.environmentNames).joined(separator: ", ") + ".")
      ])
  }

  private static func exitCodes(_ codes: [ExitCode]) -> Section {
    let sorted = codes.sorted { $0.rawValue < $1.rawValue }
    return Section(
      title: "Exit codes", items: sorted.map { .entry("\($0.rawValue)", $0.meaning) })
  }

  private static func examples(_ command: CommandDefinition) -> Section {
    Section(
      title: "Examples", items: command.examples.map { .example($0.command, $0.explanation) })
  }

  private static func related(
    _ command: CommandDefinition, _ parser: CommandLineParser
  ) -> Section {
    let others = parser.commands.filter {
      !$0.isHidden && $0.name != command.name && $0.words.first == command.words.first
    }
    guard !others.isEmpty else { return Section(title: "See also", items: []) }
    let names = others.map { "\(parser.program) \($0.name)" }.joined(separator: ", ")
    return Section(title: "See also", items: [.paragraph(names)])
  }
}

extension ManualPage {
  /// For a terminal, 80 columns.
  public var text: String {
    var text = "Usage: \(usage)\n"
    for section in sections {
      text += "\n\(section.title):\n"
      let width = section.items.reduce(0) { width, item in
        if case .entry(let term, _) = item { max(width, min(term.count, 28)) } else { width }
      }
      for (index, item) in section.items.enumerated() {
        switch item {
        case .paragraph(let words):
          if index > 0 { text += "\n" }
          text += HelpText.wrap(words, indent: 2) + "\n"
        case .entry(let term, let help): text += HelpText.row(term, help, width: width)
        case .example(let command, let explanation):
          text += "  \(command)\n" + HelpText.wrap(explanation, indent: 6) + "\n"
        }
      }
    }
    return text
  }

  /// For `man`: `eventbus man tail > eventbus-tail.1`.
  public var roff: String {
    var text = ".TH \"\(name.uppercased())\" 1 \"\" \"\(version)\" \"User Commands\"\n"
    text += ".SH NAME\n\(Self.escape(name)) \\- \(Self.escape(summary))\n"
    text += ".SH SYNOPSIS\n.B \(Self.escape(usage))\n"
    for section in sections {
      text += ".SH \"\(section.title.uppercased())\"\n"
      for item in section.items {
        switch item {
        case .paragraph(let words): text += ".PP\n\(Self.escape(words))\n"
        case .entry(let term, let help):
          text += ".TP\n.B \(Self.escape(term))\n\(Self.escape(help))\n"
        case .example(let command, let explanation):
          text +=
            ".PP\n.nf\n.B \(Self.escape(command))\n.fi\n.RS 4\n\(Self.escape(explanation))\n.RE\n"
        }
      }
    }
    return text
  }

  /// No character may be taken for a command of roff's: backslash anywhere, point and quote in front.
  static func escape(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "\\": escaped += "\\e"
      case "-": escaped += "\\-"
      case "\u{A0}": escaped += " "
      case ".", "'": escaped += (escaped.isEmpty ? "\\&" : "") + String(character)
      default: escaped.append(character)
      }
    }
    return escaped
  }
}
