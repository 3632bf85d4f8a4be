/// Collects the words of one command.
struct ArgumentScanner {
  let command: CommandDefinition
  private var given: [String: [String]] = [:]
  private var positionals: [String] = []

  init(command: CommandDefinition) { self.command = command }

  func has(_ name: String) -> Bool { given[name] != nil }

  mutating func scan(_ words: [String]) throws(UsageError) {
    var index = 0
    while index < words.count {
      let word = words[index]
      index += 1
      if word == "--" {
        positionals += words[index...]
        return
      }
      if word == "-h" {
        given["help"] = [""]
      } else if word.hasPrefix("--") {
        let next = index < words.count ? words[index] : nil
        if try option(word.dropFirst(2), next: next) { index += 1 }
      } else if word.hasPrefix("-"), word != "-" {
        throw unknown(word)
      } else {
        positionals.append(word)
      }
    }
  }

  /// Returns whether the next word was its value.
  private mutating func option(_ text: Substring, next: String?) throws(UsageError) -> Bool {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard let option = command.option(name) else { throw unknown("--" + name) }
    if option.isFlag {
      guard parts.count == 1 else { throw UsageError("--\(name) takes no value") }
      given[name] = [""]
      return false
    }
    if parts.count == 2 {
      try add(String(parts[1]), to: option)
      return false
    }
    guard let next else {
      throw UsageError("--\(name) needs a value: --\(name) \(option.placeholder)")
    }
    if next.hasPrefix("-"), next != "-" {
      let shown = option.isSecret ? option.placeholder : next
      throw UsageError(
        "--\(name) needs a value; one that begins with '-' is written --\(name)=\(shown)")
    }
    try add(next, to: option)
    return true
  }

  private mutating func add(_ value: String, to option: OptionDefinition) throws(UsageError) {
    try option.check(value, as: "--" + option.name)
    if !option.isRepeatable, let before = given[option.name]?.first, before != value {
      let values = option.isSecret ? "" : ", as '\(before)' and as '\(value)'"
      throw UsageError("--\(option.name) is given twice\(values); keep one of them")
    }
    given[option.name, default: []].append(value)
  }

  private func unknown(_ word: String) -> UsageError {
    // Without the dashes, which nobody gets wrong: they would make a short word look long.
    let name = String(word.drop { $0 == "-" })
    let hint = CommandLineParser.suggestion(for: name, in: command.options.map(\.name), as: "--")
    return UsageError("unknown option '\(word)' of \(command.name)" + hint)
  }

  consuming func finish(environment: [String: String]) throws(UsageError) -> Arguments {
    for set in command.exclusive {
      let both = set.filter { given[$0] != nil }
      if both.count > 1 {
        throw UsageError("--\(both[0]) and --\(both[1]) exclude each other; keep one of them")
      }
    }
    try checkPositionals()
    var inherited: [String: [String]] = [:]
    for option in command.options where given[option.name] == nil {
      let isExcluded = command.exclusive.contains { set in
        set.contains(option.name) && set.contains { given[$0] != nil }
      }
      // What the user typed now decides over what the environment says always.
      if isExcluded { continue }
      inherited[option.name] = try option.values(in: environment)
    }
    try checkExclusive(inherited, from: environment)
    return Arguments(
      command: command, given: given, inherited: inherited, positionals: positionals)
  }

  /// Variables contradict each other as words do: neither is newer, so neither may win in silence.
  private func checkExclusive(
    _ inherited: [String: [String]], from environment: [String: String]
  ) throws(UsageError) {
    for set in command.exclusive {
      let names = command.options.filter { set.contains($0.name) && inherited[$0.name] != nil }
        .compactMap { option in
          option.environmentNames.first { environment[$0]?.isEmpty == false }
        }
      if names.count > 1 {
        throw UsageError("\(names[0]) and \(names[1]) exclude each other; unset one of them")
      }
    }
  }

  private func checkPositionals() throws(UsageError) {
    let definitions = command.positionals
    let needed = definitions.count { $0.count == .one }
    if positionals.count < needed {
      let missing = definitions.filter { $0.count == .one }[positionals.count]
      throw UsageError("\(command.name) needs \(missing.name): \(missing.help)")
    }
    if definitions.last?.count != .many, positionals.count > definitions.count {
      let first = positionals[definitions.count]
      throw UsageError("\(command.name) takes no argument '\(first)'")
    }
  }
}

extension OptionDefinition {
  func check(_ value: String, as source: String) throws(UsageError) {
    guard !choices.isEmpty, !choices.contains(value) else { return }
    let hint = CommandLineParser.suggestion(for: value, in: choices, as: "")
    let list = "; it is one of: " + choices.joined(separator: ", ")
    throw UsageError("\(source) cannot be '\(value)'" + (hint.isEmpty ? list : hint))
  }

  /// The values the environment gives; nil when it gives none. An empty variable counts as not set.
  func values(in environment: [String: String]) throws(UsageError) -> [String]? {
    // Asking for help is a matter of one call.
    if name == "help" || name == "version" { return nil }
    for variable in environmentNames {
      guard let text = environment[variable], !text.isEmpty else { continue }
      if isFlag {
        switch text.lowercased() {
        case "1", "true", "yes", "on": return [""]
        case "0", "false", "no", "off": return nil
        default: throw UsageError("\(variable) must be true or false, not '\(text)'")
        }
      }
      let values = isRepeatable ? text.split(separator: ",").map(String.init) : [text]
      for value in values { try check(value, as: variable) }
      return values
    }
    return nil
  }
}
