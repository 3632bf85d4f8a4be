/// The help of the program and of its commands, from their definitions.
enum HelpText {
  private static let columns = 80

  static func overview(_ parser: CommandLineParser, only: [CommandDefinition]? = nil) -> String {
    let commands = (only ?? parser.commands).filter { !$0.isHidden }
    var text = "Usage: \(parser.program) COMMAND [OPTION]...\n"
    var groups: [String] = []
    for command in commands where !groups.contains(command.group) { groups.append(command.group) }
    let width = commands.map(\.name.count).max() ?? 0
    for group in groups {
      text += "\n\(group):\n"
      for command in commands where command.group == group {
        text += row(command.name, command.summary, width: width)
      }
    }
    return text
      + "\n`\(parser.program) COMMAND --help` shows the options and examples of a command,\n"
      + "`\(parser.program) help COMMAND` all there is to say about it.\n"
  }

  static func command(_ command: CommandDefinition, program: String) -> String {
    var text =
      "Usage: \(usage(command, program: program))\n" + wrap(command.summary, indent: 0) + "\n"
    let left =
      command.positionals.map(\.name) + command.options.map { label(of: $0) }
    let width = min(left.map(\.count).max() ?? 0, 28)
    if !command.positionals.isEmpty {
      text += "\nArguments:\n"
      for argument in command.positionals {
        text += row(argument.name, argument.help, width: width)
      }
    }
    text += "\nOptions:\n"
    for option in command.options {
      text += row(label(of: option), description(of: option), width: width)
    }
    if !command.examples.isEmpty {
      text += "\nExamples:\n"
      for example in command.examples {
        text += "  \(example.command)\n" + wrap(example.explanation, indent: 6) + "\n"
      }
    }
    return text + "\nEach option is also read from EVENTBUS_<OPTION>, as in EVENTBUS_LOG_LEVEL.\n"
      + "`\(program) help \(command.name)` says more.\n"
  }

  static func usage(_ command: CommandDefinition, program: String) -> String {
    var text = "\(program) \(command.name) [OPTION]..."
    for positional in command.positionals {
      switch positional.count {
      case .one: text += " \(positional.name)"
      case .optional: text += " [\(positional.name)]"
      case .many: text += " [\(positional.name)]..."
      }
    }
    return text
  }

  static func label(of option: OptionDefinition) -> String {
    option.isFlag ? "--\(option.name)" : "--\(option.name) \(option.placeholder)"
  }

  static func description(of option: OptionDefinition) -> String {
    var text = option.help
    if option.isRepeatable { text += " May be repeated." }
    if let value = option.defaultValue {
      // The no-break space keeps the two words on one line; `wrap` turns it into a plain one.
      text += " [default:\u{A0}\(value)]"
    }
    return text
  }

  /// A label and its text beside it, or below it when the label is wider than the column.
  static func row(_ label: String, _ help: String, width: Int) -> String {
    let indent = width + 4
    let body = wrap(help, indent: indent)
    if label.count > width { return "  \(label)\n\(body)\n" }
    let padding = String(repeating: " ", count: width - label.count + 2)
    return "  " + label + padding + body.dropFirst(indent) + "\n"
  }

  static func wrap(_ text: String, indent: Int) -> String {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, indent + line.count + 1 + word.count > columns {
        lines.append(margin + line)
        line = ""
      }
      line += line.isEmpty ? String(word) : " " + word
    }
    lines.append(margin + line)
    return String(lines.joined(separator: "\n").map { $0 == "\u{A0}" ? " " : $0 })
  }
}
