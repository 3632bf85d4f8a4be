import ServiceRuntime
import Testing

@Suite struct HelpTextTests {
  private func shown(_ words: String...) throws -> String {
    switch try SampleCommands.parser.parse(words, environment: ["EVENTBUS_FORMAT": "wrong"]) {
    case .show(let text): text
    case .run: ""
    }
  }

  static let overview = """
    Usage: eventbus COMMAND [OPTION]...

    Events:
      tail            Prints events as they come.

    Services:
      broker          Takes, keeps and hands out events.

    Archive:
      archive query   Finds events.
      archive verify  Checks files.

    `eventbus COMMAND --help` shows the options and examples of a command,
    `eventbus help COMMAND` all there is to say about it.

    """

  static let tail = """
    Usage: eventbus tail [OPTION]... [PATTERN]...
    Prints events as they come.

    Arguments:
      PATTERN              Names to show.

    Options:
      --since WHEN         Where to begin. [default: latest]
      --count N            Stop after N events.
      --format FORMAT      pretty or ndjson.
      --exact NAME         A name taken byte for byte. May be repeated.
      --live               Without storage.
      --until-end          Stop at the end.
      --bus URL            The bus to use. [default: tcp://127.0.0.1:7400]
      --curve-key FILE     This program's key, for a bus that asks for keys.
      --server-key KEY     The public key of that bus, or a file that holds it.
      --log-level LEVEL    Least level logged: trace, debug, info, warning, error.
                           [default: info]
      --log-format FORMAT  Form of the log lines on stderr: text or json.
                           [default: text]
      --help               Show this help.
      --version            Show the version.

    Examples:
      eventbus tail 'Signed *'
          Names that begin with "Signed ".
      eventbus tail --count 3
          The next three events.

    Each option is also read from EVENTBUS_<OPTION>, as in EVENTBUS_LOG_LEVEL.
    `eventbus help tail` says more.

    """

  @Test func `the overview lists commands by group`() throws {
    #expect(try shown() == Self.overview)
    #expect(try shown("--help") == Self.overview)
    #expect(try shown("help") == Self.overview)
  }

  @Test func `a command shows its usage, options, defaults and examples`() throws {
    #expect(try shown("tail", "--count", "3", "--help") == Self.tail)
    #expect(try shown("tail", "-h") == Self.tail)
    #expect(try shown("help", "tail").hasPrefix("Usage: eventbus tail [OPTION]... [PATTERN]...\n"))
  }

  @Test func `a group shows its commands`() throws {
    let text = try shown("archive", "--help")
    #expect(text.contains("archive query") && !text.contains("tail"))
    #expect(try shown("help", "archive") == text)
  }

  @Test func `the version is shown for the program and each command`() throws {
    #expect(try shown("--version") == "eventbus 1.2.3\n")
    #expect(try shown("tail", "--version") == "eventbus 1.2.3\n")
  }
}
