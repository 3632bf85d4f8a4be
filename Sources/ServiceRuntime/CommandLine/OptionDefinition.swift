/// One `--name` of a command, as data: help, parsing and the environment all read it from here.
public struct OptionDefinition: Hashable, Sendable {
  /// Without the dashes, words joined by `-`: `retention-age`.
  public var name: String
  /// What the help shows for the value (`DIR`); empty for a flag, which takes none.
  public var placeholder: String
  public var help: String
  /// Used when neither the command line nor the environment gives a value; shown in the help.
  public var defaultValue: String?
  public var isRepeatable: Bool
  /// When not empty, the only values accepted.
  public var choices: [String]
  /// More environment variables that give the value, read after `EVENTBUS_<NAME>`.
  public var environmentAliases: [String]
  /// False for what only the command line may say, since the environment says it of other commands.
  public var isReadFromEnvironment = true
  /// True for a password or key: no message says its value, since messages end up in logs.
  public var isSecret = false

  public var isFlag: Bool { placeholder.isEmpty }

  /// `EVENTBUS_RETENTION_AGE` for `retention-age`, then the aliases.
  public var environmentNames: [String] {
    guard isReadFromEnvironment else { return [] }
    let own = name.uppercased().map { $0 == "-" ? "_" : $0 }
    return ["EVENTBUS_" + String(own)] + environmentAliases
  }

  private init(
    name: String, placeholder: String, help: String, defaultValue: String?, isRepeatable: Bool,
    choices: [String], environmentAliases: [String]
  ) {
    self.name = name
    self.placeholder = placeholder
    self.help = help
    self.defaultValue = defaultValue
    self.isRepeatable = isRepeatable
    self.choices = choices
    self.environmentAliases = environmentAliases
  }

  /// An option that is there or not.
  public static func flag(_ name: String, help: String) -> OptionDefinition {
    OptionDefinition(
      name: name, placeholder: "", help: help, defaultValue: nil, isRepeatable: false,
      choices: [], environmentAliases: [])
  }

  /// An option with one value.
  public static func option(
    _ name: String, _ placeholder: String, help: String, default defaultValue: String? = nil,
    choices: [String] = [], environmentAliases: [String] = []
  ) -> OptionDefinition {
    OptionDefinition(
      name: name, placeholder: placeholder, help: help, defaultValue: defaultValue,
      isRepeatable: false, choices: choices, environmentAliases: environmentAliases)
  }

  /// The same, given by the command line alone.
  public var onlyOnCommandLine: OptionDefinition {
    var option = self
    option.isReadFromEnvironment = false
    return option
  }

  /// The same, with a value that no message says.
  public var secret: OptionDefinition {
    var option = self
    option.isSecret = true
    return option
  }

  /// An option that may be given many times. Its environment variable holds values separated by
  /// commas; a value with a comma in it needs the command line.
  public static func repeated(
    _ name: String, _ placeholder: String, help: String
  ) -> OptionDefinition {
    OptionDefinition(
      name: name, placeholder: placeholder, help: help, defaultValue: nil, isRepeatable: true,
      choices: [], environmentAliases: [])
  }
}

extension OptionDefinition {
  public static let help = flag("help", help: "Show this help.")
  public static let version = flag("version", help: "Show the version.")
  public static let bus = option(
    "bus", "URL", help: "The bus to use.", default: "tcp://127.0.0.1:7400",
    environmentAliases: ["EVENTBUS_URL"])
  public static let curveKey = option(
    "curve-key", "FILE", help: "This program's key, for a bus that asks for keys.")
  public static let serverKey = option(
    "server-key", "KEY", help: "The public key of that bus, or a file that holds it.")
  public static let logLevel = option(
    "log-level", "LEVEL", help: "Least level logged: trace, debug, info, warning, error.",
    default: "info", choices: ["trace", "debug", "info", "warning", "error"])
  public static let logFormat = option(
    "log-format", "FORMAT", help: "Form of the log lines on stderr: text or json.",
    default: "text", choices: ["text", "json"])
}
