internal import Primitives

/// Turns the words of a command line into a request, by the definitions of the commands.
///
/// Pure: the environment is an argument. Rules: `--k=v` and `--k v`; a value that begins with `-`
/// only as `--k=-v`; a lone `-` is a value; after `--` all words are positional; the command line
/// wins over the environment, which wins over the default. An option that is not repeatable may be
/// given again only with the same value.
public struct CommandLineParser: Sendable {
  public enum Request: Sendable {
    case run(Arguments)
    /// Text for stdout, exit 0.
    case show(String)
  }

  public let program: String
  public let version: String
  public let commands: [CommandDefinition]

  public init(program: String, version: String, commands: [CommandDefinition]) {
    precondition(
      Set(commands.map(\.name)).count == commands.count, "a command is defined twice")
    self.program = program
    self.version = version
    self.commands = commands
  }

  /// - Parameter words: without the name of the program.
  public func parse(
    _ words: [String], environment: [String: String]
  ) throws(UsageError) -> Request {
    guard let first = words.first else { return .show(HelpText.overview(self)) }
    switch first {
    case "--help", "-h": return .show(HelpText.overview(self))
    case "help":
      guard words.count > 1 else { return .show(HelpText.overview(self)) }
      let named = Array(words.dropFirst())
      if let group = group(named) { return .show(HelpText.overview(self, only: group)) }
      return .show(ManualPage(try command(of: named), of: self).text)
    case "--version": return .show("\(program) \(version)\n")
    default: break
    }
    if first.hasPrefix("-") {
      throw UsageError("the command comes before its options; see `\(program) --help`")
    }
    // Help of a group: `archive --help` lists what begins with `archive`.
    if words.count == 2, words[1] == "--help" || words[1] == "-h",
      let group = group([first])
    {
      return .show(HelpText.overview(self, only: group))
    }
    let command = try command(of: words)
    let rest = Array(words.dropFirst(command.words.count))
    var scanner = ArgumentScanner(command: command)
    try scanner.scan(rest)
    if scanner.has("help") { return .show(HelpText.command(command, program: program)) }
    if scanner.has("version") { return .show("\(program) \(version)\n") }
    return .run(try scanner.finish(environment: environment))
  }

  /// The commands that begin with a word that is none by itself; nil for other words.
  private func group(_ words: [String]) -> [CommandDefinition]? {
    guard words.count == 1 else { return nil }
    let group = commands.filter { $0.words.first == words[0] }
    return group.isEmpty || group.contains { $0.name == words[0] } ? nil : group
  }

  /// The command with the most words in common with the beginning of `words`.
  private func command(of words: [String]) throws(UsageError) -> CommandDefinition {
    let matching = commands.filter { words.starts(with: $0.words) }
    if let command = matching.max(by: { $0.words.count < $1.words.count }) { return command }
    let first = words.first ?? ""
    let group = commands.filter { $0.words.first == first }
    guard !group.isEmpty else {
      let names = commands.map(\.words).compactMap(\.first)
      let hint = Self.suggestion(for: first, in: names, as: "")
      let list = "; `\(program) --help` lists them"
      throw UsageError("unknown command '\(first)'" + (hint.isEmpty ? list : hint))
    }
    let names = group.compactMap { $0.words.dropFirst().first }
    let second = words.dropFirst().first { !$0.hasPrefix("-") }
    guard let second else {
      throw UsageError("\(first) needs one of: " + names.joined(separator: ", "))
    }
    throw UsageError(
      "unknown command '\(first) \(second)'"
        + Self.suggestion(for: second, in: names, as: "\(first) "))
  }

  static func suggestion(for word: String, in known: [String], as prefix: String) -> String {
    guard let nearest = EditDistance.nearest(to: word, in: known) else { return "" }
    return "; did you mean '\(prefix)\(nearest)'?"
  }
}
