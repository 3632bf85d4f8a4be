import BusClient
import BusProtocol
import ServiceRuntime

/// `eventbus completions`, `eventbus man`, and what the completion scripts ask.
enum HelpCommands {
  static let entries: [Commands.Entry] = [
    Commands.Entry(
      definition: CommandDefinition(
        name: "completions", group: "Help",
        summary: "Prints the script by which a shell completes commands, options and event names.",
        positionals: [
          PositionalDefinition(
            "SHELL", help: "bash, zsh or fish.",
            choices: CompletionScript.allCases.map(\.rawValue))
        ],
        examples: [
          CommandExample("eval \"$(eventbus completions bash)\"", "In ~/.bashrc."),
          CommandExample("eventbus completions fish | source", "In fish's config.fish."),
        ]), run: completions),
    Commands.Entry(
      definition: CommandDefinition(
        name: "man", group: "Help", summary: "Prints the manual page of a command, for man.",
        positionals: [
          PositionalDefinition(
            "COMMAND", help: "Its words; the page of the whole program without.", count: .many)
        ],
        examples: [
          CommandExample("eventbus man tail | man -l -", "Reads it at once."),
          CommandExample(
            "eventbus man archive query > /usr/local/share/man/man1/eventbus-archive-query.1",
            "Installs it."),
        ]), run: man),
    completeWords,
  ]

  private static let completeWords: Commands.Entry = {
    var definition = CommandDefinition(
      name: "complete-words", group: "Help", summary: "What the completion scripts ask.",
      positionals: [
        PositionalDefinition("WORD", help: "The words so far, the last unfinished.", count: .many)
      ])
    definition.isHidden = true
    return Commands.Entry(definition: definition, run: complete)
  }()

  private static func completions(_ context: Commands.Context) throws -> ExitCode {
    let name = context.arguments.positionals[0]
    guard let script = CompletionScript(rawValue: name) else {
      let known = CompletionScript.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("there are no completions for '\(name)'; there are for \(known)")
    }
    Terminal.output(script.text(program: Commands.parser.program))
    return .done
  }

  private static func man(_ context: Commands.Context) throws -> ExitCode {
    let words = context.arguments.positionals
    guard !words.isEmpty else {
      let page = ManualPage(
        of: Commands.parser, summary: "an event bus with a journal, and what belongs to it")
      Terminal.output(page.roff)
      return .done
    }
    let name = words.joined(separator: " ")
    guard let command = Commands.parser.commands.first(where: { $0.name == name }) else {
      throw UsageError("there is no command '\(name)'; `eventbus help` lists them")
    }
    Terminal.output(ManualPage(command, of: Commands.parser).roff)
    return .done
  }

  private static func complete(_ context: Commands.Context) throws -> ExitCode {
    let answer = Completer(Commands.parser).answer(context.arguments.positionals)
    var candidates = answer.candidates
    if answer.more == .eventNames {
      candidates += eventNames(at: try answer.bus ?? context.arguments.requiredText("bus"))
        .filter { $0.hasPrefix(answer.typed) }
        .map { Completer.Candidate(answer.prefix + $0) }
    }
    let kind = answer.more == .eventNames ? "none" : answer.more.rawValue
    var text = ":\(kind)\n"
    for candidate in candidates {
      text += candidate.text + (candidate.help.isEmpty ? "" : "\t" + candidate.help) + "\n"
    }
    Terminal.output(text)
    return .done
  }

  /// What the bus knows, asked in the time that a person does not notice. Names with control characters
  /// are left out: they come from whoever publishes, and go to a shell.
  private static func eventNames(at address: String) -> [String] {
    do throws(BusClientError) {
      var administration = try BusAdministration(address: address)
      administration.deadline = .milliseconds(300)
      return StatusText.maps(try administration.status(), "names").map { $0.text("name") }
        .filter { TerminalText.escape($0) == $0 }.sorted()
    } catch {
      return []
    }
  }
}
