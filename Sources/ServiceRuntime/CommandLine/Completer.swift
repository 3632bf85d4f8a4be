/// What could come next on a command line, by the same definitions that parse it.
public struct Completer: Sendable {
  public struct Candidate: Hashable, Sendable {
    public var text: String
    public var help: String

    public init(_ text: String, _ help: String = "") {
      self.text = text
      self.help = help
    }
  }

  /// What the shell, or whoever asks the bus, adds to the candidates.
  public enum More: String, Sendable {
    case none, files, directories
    case eventNames = "event names"
  }

  public struct Answer: Hashable, Sendable {
    public var candidates: [Candidate] = []
    public var more = More.none
    /// What more candidates must begin with, and what is put before each of them (`--event=`).
    public var typed = ""
    public var prefix = ""
    /// The bus that the words name.
    public var bus: String?
  }

  private let parser: CommandLineParser

  public init(_ parser: CommandLineParser) { self.parser = parser }

  /// - Parameter words: behind the program's name; the last one is being written and may be empty.
  public func answer(_ words: [String]) -> Answer {
    guard let current = words.last else { return Answer() }
    var before = Array(words.dropLast())
    if before.first == "help" {
      before.removeFirst()
      return answer(nextWords(before), current)
    }
    guard let command = command(before) else {
      let help = before.isEmpty ? [Candidate("help", "All there is to say about a command.")] : []
      return answer(nextWords(before) + help, current)
    }
    let rest = Array(before.dropFirst(command.words.count))
    var answer = self.answer(command, rest, current)
    if rest.isEmpty {
      answer.candidates += nextWords(before).filter { $0.text.hasPrefix(current) }
    }
    answer.bus = Self.bus(in: rest)
    return answer
  }

  private func answer(_ candidates: [Candidate], _ current: String) -> Answer {
    var answer = Answer()
    answer.candidates = candidates.filter { $0.text.hasPrefix(current) }
    answer.typed = current
    return answer
  }

  private func command(_ words: [String]) -> CommandDefinition? {
    parser.commands.filter { words.starts(with: $0.words) }
      .max { $0.words.count < $1.words.count }
  }

  /// The words that go on from `words` to the name of a command.
  private func nextWords(_ words: [String]) -> [Candidate] {
    var found: [Candidate] = []
    for command in parser.commands
    where !command.isHidden && command.words.count > words.count
      && command.words.starts(with: words)
    {
      let word = command.words[words.count]
      let isWhole = command.words.count == words.count + 1
      if let index = found.firstIndex(where: { $0.text == word }) {
        if isWhole { found[index].help = command.summary }
      } else {
        found.append(Candidate(word, isWhole ? command.summary : command.group))
      }
    }
    return found
  }

  private func answer(
    _ command: CommandDefinition, _ rest: [String], _ current: String
  ) -> Answer {
    if !rest.contains("--") {
      // bash takes `--format=pretty` for three words.
      let isSplit = rest.last == "=" || current == "="
      let named = isSplit && current != "=" ? rest.dropLast().last : rest.last
      if let option = valued(command, named) {
        return values(of: option, typed: current == "=" ? "" : current, prefix: "")
      }
      if let equals = current.firstIndex(of: "="),
        let option = valued(command, String(current[..<equals]))
      {
        let typed = String(current[current.index(after: equals)...])
        return values(of: option, typed: typed, prefix: "--\(option.name)=")
      }
      if current.hasPrefix("-") { return answer(options(command, rest), current) }
    }
    return positional(command, rest, current)
  }

  private func valued(_ command: CommandDefinition, _ word: String?) -> OptionDefinition? {
    guard let word, word.hasPrefix("--"),
      let option = command.option(String(word.dropFirst(2))), !option.isFlag
    else { return nil }
    return option
  }

  private func options(_ command: CommandDefinition, _ rest: [String]) -> [Candidate] {
    let given = Set(rest.map { $0.split(separator: "=").first.map(String.init) ?? "" })
    return command.options.filter { option in
      option.isRepeatable
        || !given.contains("--" + option.name)
          && !command.exclusive.contains { set in
            set.contains(option.name) && set.contains { given.contains("--" + $0) }
          }
    }.map { Candidate("--" + $0.name, $0.help) }
  }

  private func positional(
    _ command: CommandDefinition, _ rest: [String], _ current: String
  ) -> Answer {
    let done = positionalCount(command, rest)
    let isMore = command.positionals.last?.count == .many
    guard done < command.positionals.count || isMore, let last = command.positionals.last else {
      return current.isEmpty && !rest.contains("--")
        ? answer(options(command, rest), current) : Answer()
    }
    let definition = done < command.positionals.count ? command.positionals[done] : last
    var answer = answer(definition.choices.map { Candidate($0) }, current)
    answer.more = Self.more(definition.name, "")
    return answer
  }

  private func positionalCount(_ command: CommandDefinition, _ rest: [String]) -> Int {
    var count = 0
    var isValue = false
    for word in rest {
      if isValue {
        isValue = false
      } else if valued(command, word) != nil {
        isValue = true
      } else if !word.hasPrefix("-") {
        count += 1
      }
    }
    return count
  }

  private func values(of option: OptionDefinition, typed: String, prefix: String) -> Answer {
    var answer = Answer()
    answer.candidates = option.choices.filter { $0.hasPrefix(typed) }.map { Candidate(prefix + $0) }
    answer.more = Self.more(option.placeholder, option.name)
    answer.typed = typed
    answer.prefix = prefix
    return answer
  }

  private static func more(_ placeholder: String, _ option: String) -> More {
    switch (placeholder, option) {
    case ("DIR", _): .directories
    case ("FILE", _): .files
    case ("PATTERN", _), (_, "event"), (_, "exact"): .eventNames
    default: .none
    }
  }

  private static func bus(in rest: [String]) -> String? {
    for (index, word) in rest.enumerated() {
      if word.hasPrefix("--bus=") { return String(word.dropFirst(6)) }
      if word == "--bus", index + 1 < rest.count { return rest[index + 1] }
    }
    return nil
  }
}
