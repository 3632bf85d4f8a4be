import BusBroker
import BusTransport
import Primitives
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `eventbus keys generate|authorize|list|revoke`: who may use a bus that asks for keys.
///
/// They change files of the broker's directory, on its machine; a running broker takes the change within
/// a second.
enum KeysCommands {
  private static let data = OptionDefinition.option(
    "data", "DIR", help: "The broker's directory.", default: "./eventbus-data")

  static let entries: [Commands.Entry] = [
    Commands.Entry(
      definition: CommandDefinition(
        name: "keys generate", group: "Administration",
        summary: "Makes a key: FILE, to be kept secret, and FILE.pub. Prints the public half.",
        positionals: [PositionalDefinition("FILE", help: "Where the key is to be.")],
        options: [.flag("force", help: "Replace a file that is there.")],
        examples: [
          CommandExample("eventbus keys generate shop.key", "On the client's machine."),
          CommandExample("eventbus keys generate --force shop.key", "A new one in its place."),
        ]), run: generate),
    Commands.Entry(
      definition: CommandDefinition(
        name: "keys authorize", group: "Administration",
        summary: "Lets a key in, with these rights and no others. Prints the broker's public key.",
        positionals: [
          PositionalDefinition("KEY", help: "A public key, or a file that holds it.")
        ],
        options: [
          data, .json,
          .option("name", "NAME", help: "What people call it. Default: the file's name."),
          .repeated("publish", "PATTERN", help: "Event names that it may publish."),
          .repeated(
            "subscribe", "PATTERN",
            help: "Event names that it may read. It may ask for less, not for more."),
          .repeated(
            "administer", "PATTERN",
            help: "Subscribers that it may change; any right of this kind shows the status."),
          .repeated("publish-exact", "NAME", help: "One event name, with no special characters."),
          .repeated("subscribe-exact", "NAME", help: "The same for reading."),
        ],
        examples: [
          CommandExample(
            "eventbus keys authorize shop.key.pub --publish 'Order *' --data /var/lib/eventbus",
            "May publish orders."),
          CommandExample(
            "eventbus keys authorize sink.key.pub --subscribe '*' --administer '*'",
            "May read everything and see the status."),
        ]), run: authorize),
    Commands.Entry(
      definition: CommandDefinition(
        name: "keys list", group: "Administration",
        summary: "Shows the broker's public key, and who is let in with which rights.",
        options: [data, .json],
        examples: [
          CommandExample("eventbus keys list", "Of the default directory."),
          CommandExample("eventbus keys list --data /var/lib/eventbus --json", "For a script."),
        ]), run: list),
    Commands.Entry(
      definition: CommandDefinition(
        name: "keys revoke", group: "Administration",
        summary: "Lets a key in no more, and cuts it off within a second.",
        positionals: [
          PositionalDefinition("KEY", help: "Its name, the public key, or a file that holds it.")
        ],
        options: [data, .json],
        examples: [
          CommandExample("eventbus keys revoke shop", "By its name."),
          CommandExample("eventbus keys revoke shop.key.pub", "By its file."),
        ]), run: revoke),
  ]

  private static func generate(_ context: Commands.Context) throws -> ExitCode {
    let path = context.arguments.positionals[0]
    guard path != "-" else {
      throw UsageError("FILE: a key and its public half are two files, never stdout: name one")
    }
    let pair = try CurveKeyPair.generate()
    do throws(CurveKeyFile.Failure) {
      try CurveKeyFile.write(
        pair, to: path, name: name(ofFile: path), replacing: context.arguments.flag("force"))
    } catch {
      if case .file(.exists) = error {
        throw CommandFailure(.failed, "\(error): --force makes a new key in its place")
      }
      throw CommandFailure(.failed, "\(error)")
    }
    Terminal.output("\(pair.publicKey)\n")
    return .done
  }

  private static func authorize(_ context: Commands.Context) throws -> ExitCode {
    let arguments = context.arguments
    let given = arguments.positionals[0]
    let (key, file) = try publicKey(given)
    guard let name = arguments.text("name") ?? file.map(name(ofFile:)) else {
      throw UsageError("keys authorize needs --name NAME, which a key alone does not have")
    }
    var rights = AccessRights()
    rights.publish =
      try arguments.names("publish") + arguments.names("publish-exact").map(escaped)
    rights.subscribe =
      try arguments.names("subscribe") + arguments.names("subscribe-exact").map(escaped)
    rights.administer = try arguments.names("administer")
    guard !rights.isEmpty else {
      throw UsageError("keys authorize needs a right: --publish, --subscribe or --administer")
    }
    let entry = AccessKey(
      name: name, key: key,
      // To the second: for people.
      since: Timestamp(nanoseconds: SystemClock.realtime() / 1_000_000_000 * 1_000_000_000).text,
      rights: rights)
    let directory = try arguments.requiredText("data")
    // Before the broker's first start too: whoever needs a key to start may need it then.
    try Folders.make(directory, mode: 0o700)
    let server = try serverKey(directory)
    var wasKnown = false
    try change(directory) { keys in
      if let index = keys.firstIndex(where: { $0.key == key }) {
        keys[index] = entry
        wasKnown = true
      } else {
        keys.append(entry)
      }
    }
    if arguments.flag("json") {
      let line = KeysText.json(entry, extra: [.init("serverKey", .text(server))])
      Terminal.output("\(line)\n")
    } else {
      let verb = wasKnown ? "changed" : "authorized"
      Terminal.output(
        "\(verb) \(TerminalText.escape(name)) \(key)\n"
          + "the client's options: --curve-key FILE --server-key '\(server)'\n")
    }
    return .done
  }

  private static func list(_ context: Commands.Context) throws -> ExitCode {
    let directory = try context.arguments.requiredText("data")
    guard try CommandFailure.isThere(directory) else {
      throw CommandFailure(
        .failed, "\(directory) is not there; `eventbus keys authorize` makes it, or give --data")
    }
    let keys: [AccessKey]
    do throws(AccessFile.Failure) { keys = try AccessFile(directory: directory).load() } catch {
      throw CommandFailure(.failed, "\(error)")
    }
    let server = try serverKey(directory)
    if context.arguments.flag("json") {
      let line = JSONText.object([
        .init("serverKey", .text(server)), .init("keys", .list(keys.map { KeysText.json($0) })),
      ])
      Terminal.output("\(line)\n")
    } else {
      Terminal.output("server key  \(server)\n" + KeysText.table(keys))
    }
    return .done
  }

  private static func revoke(_ context: Commands.Context) throws -> ExitCode {
    let given = context.arguments.positionals[0]
    let directory = try context.arguments.requiredText("data")
    var gone: [AccessKey] = []
    try change(directory) { keys in
      // A name first: a file that happens to be called so is not meant.
      gone = keys.filter { Array($0.name.utf8) == Array(given.utf8) }
      if gone.isEmpty, let (key, _) = try? publicKey(given) {
        gone = keys.filter { $0.key == key }
      }
      keys.removeAll { gone.contains($0) }
    }
    guard let entry = gone.first else {
      throw CommandFailure(
        .failed, "no key is known as '\(given)': `eventbus keys list` shows those that are")
    }
    let isJSON = context.arguments.flag("json")
    Terminal.output(
      isJSON
        ? "\(JSONText.object([.init("revoked", .text(entry.name))]))\n"
        : "revoked \(TerminalText.escape(entry.name)) \(entry.key)\n")
    return .done
  }

  private static func change(
    _ directory: String, _ body: (inout [AccessKey]) -> Void
  ) throws {
    do throws(AccessFile.Failure) {
      try AccessFile(directory: directory).change(body)
    } catch {
      throw CommandFailure(.failed, "\(error)")
    }
  }

  /// A key given as text, or by its file.
  private static func publicKey(_ text: String) throws -> (CurvePublicKey, file: String?) {
    do throws(CurveKeyFile.Failure) {
      let (key, isFile) = try CurveKeyFile.publicKey(orFile: text)
      return (key, isFile ? text : nil)
    } catch {
      throw UsageError("KEY is 40 characters of Z85 or a file that holds them: \(error)")
    }
  }

  private static func serverKey(_ directory: String) throws -> String {
    do {
      return try BrokerKey.publicKey(directory: directory)
    } catch {
      throw CommandFailure(.failed, "\(error)")
    }
  }

  /// `shop` for `keys/shop.key.pub`.
  private static func name(ofFile path: String) -> String {
    var name = path.split(separator: "/").last.map(String.init) ?? path
    for ending in [".pub", ".key"] where name.hasSuffix(ending) && name.count > ending.count {
      name.removeLast(ending.count)
    }
    return name
  }

  /// The pattern that a name alone matches.
  private static func escaped(_ name: String) -> String {
    name.replacing("\\", with: "\\\\").replacing("*", with: "\\*")
  }
}
