/// The words given to a command, checked against its definition. Asking for an option the command
/// does not define is a bug and traps.
public struct Arguments: Sendable {
  public let command: CommandDefinition
  public let positionals: [String]
  let given: [String: [String]]
  let inherited: [String: [String]]

  init(
    command: CommandDefinition, given: [String: [String]], inherited: [String: [String]],
    positionals: [String]
  ) {
    self.command = command
    self.given = given
    self.inherited = inherited
    self.positionals = positionals
  }

  /// Whether the command line or the environment gives the option.
  public func isGiven(_ name: String) -> Bool {
    _ = definition(name)
    return given[name] != nil || inherited[name] != nil
  }

  /// Whether the command line itself gives it: what the environment says always may be of no use here.
  public func isTyped(_ name: String) -> Bool {
    _ = definition(name)
    return given[name] != nil
  }

  public func flag(_ name: String) -> Bool {
    precondition(definition(name).isFlag, "--\(name) is not a flag")
    return isGiven(name)
  }

  /// All values of the option, its default included, in the order given.
  public func texts(_ name: String) -> [String] {
    let option = definition(name)
    return given[name] ?? inherited[name] ?? option.defaultValue.map { [$0] } ?? []
  }

  /// The value of the option, else its default, else nil.
  public func text(_ name: String) -> String? { texts(name).last }

  /// As `text`, for what the command cannot do without.
  public func requiredText(_ name: String) throws(UsageError) -> String {
    guard let text = text(name) else { throw missing(name) }
    return text
  }

  /// The value read as a `Value`; throws when there is neither value nor default.
  public func value<Value: ArgumentValue>(
    _ name: String, as type: Value.Type = Value.self
  ) throws(UsageError) -> Value {
    guard let value = try optional(name, as: type) else { throw missing(name) }
    return value
  }

  /// The value read as a `Value`; nil when there is neither value nor default.
  public func optional<Value: ArgumentValue>(
    _ name: String, as type: Value.Type = Value.self
  ) throws(UsageError) -> Value? {
    guard let text = text(name) else { return nil }
    guard let value = Value(argument: text) else {
      throw UsageError("\(source(of: name)) must be \(Value.expectation), not '\(text)'")
    }
    return value
  }

  /// As `value`, within a range.
  public func value<Value: ArgumentValue & Comparable>(
    _ name: String, in range: ClosedRange<Value>
  ) throws(UsageError) -> Value {
    guard let value = try optional(name, in: range) else { throw missing(name) }
    return value
  }

  /// As `optional`, within a range.
  public func optional<Value: ArgumentValue & Comparable>(
    _ name: String, in range: ClosedRange<Value>
  ) throws(UsageError) -> Value? {
    guard let value = try optional(name, as: Value.self) else { return nil }
    guard range.contains(value) else {
      throw UsageError(
        "\(source(of: name)) must be from \(range.lowerBound) to \(range.upperBound), not \(value)")
    }
    return value
  }

  /// The variable that gave the value which a message quotes; nil when the command line gave it, or when the
  /// message names the variable.
  public func variable(quotedIn message: String, of environment: [String: String]) -> String? {
    for option in command.options {
      guard let values = inherited[option.name], !option.isFlag,
        values.contains(where: { message.contains("'\($0)'") }),
        let name = option.environmentNames.first(where: { environment[$0]?.isEmpty == false }),
        !message.contains(name)
      else { continue }
      return name
    }
    return nil
  }

  private func missing(_ name: String) -> UsageError {
    UsageError("\(command.name) needs --\(name) \(definition(name).placeholder)")
  }

  /// Where the value came from, for messages.
  private func source(of name: String) -> String {
    if given[name] != nil || inherited[name] == nil { return "--" + name }
    return "\(definition(name).environmentNames.joined(separator: " or ")) (for --\(name))"
  }

  private func definition(_ name: String) -> OptionDefinition {
    guard let option = command.option(name) else {
      preconditionFailure("\(command.name) does not define --\(name)")
    }
    return option
  }
}
