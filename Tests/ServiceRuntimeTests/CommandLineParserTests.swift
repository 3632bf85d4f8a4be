import ServiceRuntime
import Testing

@Suite struct CommandLineParserTests {
  private func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

  @Test(arguments: [
    ("tial", "unknown command 'tial'; did you mean 'tail'?"),
    ("nosuch", "unknown command 'nosuch'; `eventbus --help` lists them"),
    ("archive verfy", "unknown command 'archive verfy'; did you mean 'archive verify'?"),
    ("archive", "archive needs one of: query, verify"),
    ("tail --cuont 3", "unknown option '--cuont' of tail; did you mean '--count'?"),
    ("tail --until", "unknown option '--until' of tail; did you mean '--until-end'?"),
    ("tail -n", "unknown option '-n' of tail"),
    ("tail --count", "--count needs a value: --count N"),
    ("tail --exact -rf", "--exact needs a value; one that begins with '-' is written --exact=-rf"),
    ("tail --live=1", "--live takes no value"),
    ("tail --count 3 --count 4", "--count is given twice, as '3' and as '4'; keep one of them"),
    ("tail --live --until-end", "--live and --until-end exclude each other; keep one of them"),
    ("tail --format prety", "--format cannot be 'prety'; did you mean 'pretty'?"),
    ("tail --format xml", "--format cannot be 'xml'; it is one of: pretty, ndjson"),
    ("broker now", "broker takes no argument 'now'"),
    ("archive verify", "archive verify needs FILE: The file to check."),
    ("--bus x tail", "the command comes before its options; see `eventbus --help`"),
  ])
  func `a line that cannot be followed says why in one line`(line: String, message: String) {
    let error = #expect(throws: UsageError.self) { try SampleCommands.run(words(line)) }
    #expect(error?.message == message)
    #expect(error?.exitCode == .usage)
  }

  @Test(arguments: [
    (["send", "--key", "s3cret", "--key", "other"], "--key is given twice; keep one of them"),
    (
      ["send", "--key", "-s3cret"],
      "--key needs a value; one that begins with '-' is written --key=KEY"
    ),
  ])
  func `no message says the value of a secret`(line: [String], message: String) {
    let send = CommandDefinition(
      name: "send", group: "Services", summary: "Sends.",
      options: [.option("key", "KEY", help: "The key.").secret])
    let parser = CommandLineParser(program: "eventbus", version: "1", commands: [send])
    let error = #expect(throws: UsageError.self) { try parser.parse(line, environment: [:]) }
    #expect(error?.message == message)
  }

  @Test func `control characters of the command line are not echoed`() {
    let error = #expect(throws: UsageError.self) {
      try SampleCommands.run(["tail", "--\u{1B}[2J\nx"])
    }
    #expect(error?.message.contains("\\u{1B}[2J\\nx") == true)
  }

  @Test func `values come after a space or an equals sign`() throws {
    let arguments = try SampleCommands.run(words("tail a --count 3 --exact=x=y --exact z b -"))
    #expect(arguments.text("count") == "3")
    #expect(arguments.texts("exact") == ["x=y", "z"])
    #expect(arguments.positionals == ["a", "b", "-"])
    #expect(arguments.text("since") == "latest")
    #expect(!arguments.isGiven("since"))
  }

  @Test func `names that look like options are given with equals or after two dashes`() throws {
    let arguments = try SampleCommands.run([
      "tail", "--exact=-rf", "--exact=", "--", "-rf", "--live",
    ])
    #expect(arguments.texts("exact") == ["-rf", ""])
    #expect(arguments.positionals == ["-rf", "--live"])
    #expect(!arguments.flag("live"))
  }

  @Test func `the command line wins over the environment and that over the default`() throws {
    let environment = [
      "EVENTBUS_SINCE": "earliest", "EVENTBUS_COUNT": "9", "EVENTBUS_EXACT": "a,b",
      "EVENTBUS_LIVE": "yes", "EVENTBUS_URL": "tcp://h:1",
    ]
    let arguments = try SampleCommands.run(words("tail --count 2"), environment)
    #expect(arguments.text("since") == "earliest")
    #expect(arguments.text("count") == "2")
    #expect(arguments.texts("exact") == ["a", "b"])
    #expect(arguments.flag("live"))
    #expect(arguments.text("bus") == "tcp://h:1")
  }

  @Test func `an option typed now sets aside one of the environment it excludes`() throws {
    let arguments = try SampleCommands.run(words("tail --until-end"), ["EVENTBUS_LIVE": "1"])
    #expect(!arguments.flag("live"))
  }

  @Test(arguments: [
    (["EVENTBUS_LIVE": "maybe"], "EVENTBUS_LIVE must be true or false, not 'maybe'"),
    (["EVENTBUS_FORMAT": "ndjsn"], "EVENTBUS_FORMAT cannot be 'ndjsn'; did you mean 'ndjson'?"),
    (
      ["EVENTBUS_LIVE": "1", "EVENTBUS_UNTIL_END": "1"],
      "EVENTBUS_LIVE and EVENTBUS_UNTIL_END exclude each other; unset one of them"
    ),
  ])
  func `a wrong variable is named, and so are two that contradict`(
    environment: [String: String], message: String
  ) {
    let error = #expect(throws: UsageError.self) { try SampleCommands.run(["tail"], environment) }
    #expect(error?.message == message)
  }

  @Test func `a message that quotes a variable's value finds the variable`() throws {
    let environment = ["EVENTBUS_URL": "foo", "EVENTBUS_SINCE": "then"]
    let arguments = try SampleCommands.run(words("tail --since now"), environment)
    func variable(_ message: String) -> String? {
      arguments.variable(quotedIn: message, of: environment)
    }
    #expect(variable("'foo' is no address") == "EVENTBUS_URL")
    #expect(variable("EVENTBUS_URL: 'foo' is no address") == nil)
    #expect(variable("--since: 'now' is no time") == nil)
  }

  @Test func `an excluded variable that says no is no contradiction`() throws {
    let environment = ["EVENTBUS_LIVE": "0", "EVENTBUS_UNTIL_END": "1"]
    let arguments = try SampleCommands.run(["tail"], environment)
    #expect(arguments.flag("until-end") && !arguments.flag("live"))
  }

  @Test func `an empty variable counts as not set`() throws {
    #expect(try SampleCommands.run(["tail"], ["EVENTBUS_SINCE": ""]).text("since") == "latest")
  }

  @Test func `a number outside its range or form names its source`() throws {
    let outside = #expect(throws: UsageError.self) {
      try SampleCommands.run(words("tail --count 0")).value("count", in: 1...100)
    }
    #expect(outside?.message == "--count must be from 1 to 100, not 0")
    let wrong = #expect(throws: UsageError.self) {
      let arguments = try SampleCommands.run(["broker"], ["EVENTBUS_RETENTION_AGE": "7 days"])
      return try arguments.value("retention-age", as: Duration.self)
    }
    #expect(
      wrong?.message
        == "EVENTBUS_RETENTION_AGE (for --retention-age) must be "
        + "a duration such as 500ms, 2s, 10m or 7d, not '7 days'")
    let missing = #expect(throws: UsageError.self) {
      try SampleCommands.run(["archive", "query"]).requiredText("dir")
    }
    #expect(missing?.message == "archive query needs --dir DIR")
  }

  @Test func `defaults are read like given values`() throws {
    let arguments = try SampleCommands.run(["broker"])
    #expect(try arguments.value("retention-bytes") == ByteSize(bytes: 10 << 30))
    #expect(try arguments.value("retention-age") == Duration.seconds(7 * 86_400))
    #expect(try arguments.optional("metrics", as: HostPort.self) == nil)
  }

  @Test func `services and subscribers share options that do not clash`() throws {
    let command = CommandDefinition(
      name: "webhook", group: "Services", summary: "Sends events on.",
      options: .service + .subscriber(name: "webhook"))
    let parser = CommandLineParser(program: "eventbus", version: "1", commands: [command])
    guard case .run(let arguments) = try parser.parse(["webhook"], environment: [:]) else {
      Issue.record("no request")
      return
    }
    #expect(try arguments.value("grace") == Duration.seconds(10))
    #expect(try arguments.value("port-base", in: 1...65_000) == 7400)
    #expect(arguments.text("name") == "webhook")
  }

  @Test func `the environment of the process is read`() {
    #expect(ProcessEnvironment.current()["PATH"]?.isEmpty == false)
  }
}
