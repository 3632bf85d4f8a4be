import ServiceRuntime
import TestSupport
import Testing

@Suite struct CompleterTests {
  private func words(_ words: String...) -> [String] {
    Completer(SampleCommands.parser).answer(words).candidates.map(\.text)
  }

  @Test func `commands are completed word by word`() {
    #expect(words("") == ["tail", "broker", "archive", "help"])
    #expect(words("t") == ["tail"])
    #expect(words("archive", "") == ["query", "verify"])
    #expect(words("help", "archive", "v") == ["verify"])
    #expect(words("nonsense", "").isEmpty)
  }

  @Test func `options come from the definition, those given already do not`() {
    #expect(words("tail", "--f") == ["--format"])
    #expect(!words("tail", "--count", "3", "--").contains("--count"))
    #expect(words("tail", "--exact", "A", "--ex") == ["--exact"])
    // What excludes what was given is not offered.
    #expect(words("tail", "--live", "--u").isEmpty)
  }

  @Test(arguments: [
    (["tail", "--format", ""], ["pretty", "ndjson"]),
    (["tail", "--format", "n"], ["ndjson"]),
    (["tail", "--format=n"], ["--format=ndjson"]),
    (["tail", "--format", "="], ["pretty", "ndjson"]),
    (["tail", "--format", "=", "p"], ["pretty"]),
  ])
  func `values come from the choices`(_ row: (words: [String], candidates: [String])) {
    let answer = Completer(SampleCommands.parser).answer(row.words)
    #expect(answer.candidates.map(\.text) == row.candidates)
  }

  @Test(arguments: [
    (["tail", "Ga"], Completer.More.eventNames), (["tail", "--exact", "x"], .eventNames),
    (["archive", "query", "--dir", ""], .directories), (["archive", "verify", "a"], .files),
    (["archive", "verify", "a", "b"], .none), (["tail", "--count", "3"], .none),
  ])
  func `what the shell or the bus knows is asked for`(
    _ row: (words: [String], more: Completer.More)
  ) {
    #expect(Completer(SampleCommands.parser).answer(row.words).more == row.more)
  }

  @Test func `the bus of the words is the one that is asked for names`() {
    let completer = Completer(SampleCommands.parser)
    #expect(completer.answer(["tail", "--bus", "tcp://a:1", "G"]).bus == "tcp://a:1")
    #expect(completer.answer(["tail", "--bus=tcp://b:2", "G"]).bus == "tcp://b:2")
    #expect(completer.answer(["tail", "G"]).bus == nil)
    let answer = completer.answer(["tail", "--exact=Ga"])
    #expect(answer.typed == "Ga" && answer.prefix == "--exact=")
  }

  @Test func `nothing is no line to complete`() {
    #expect(words().isEmpty)
  }
}

@Suite struct ManualPageTests {
  private let page: ManualPage = {
    var tail = SampleCommands.tail
    tail.details = ["It goes on until it is stopped.", ".with a point in front"]
    tail.exitCodes = [.busUnreachable, .done]
    return ManualPage(tail, of: SampleCommands.parser)
  }()

  @Test func `help has description, exit codes, variables and examples`() {
    let text = page.text
    for part in [
      "Description:\n  Prints events as they come.\n\n  It goes on until it is stopped.",
      "Exit codes:\n  0   Done.\n  69  The bus was unreachable",
      "EVENTBUS_BUS, EVENTBUS_URL", "Examples:\n  eventbus tail 'Signed *'",
      "--format FORMAT      pretty or ndjson.",
    ] { #expect(text.contains(part), "\(part)\nin\n\(text)") }
    #expect(!text.contains("EVENTBUS_HELP"))
  }

  @Test func `a manual page leaves roff nothing to misread`() {
    let roff = page.roff
    #expect(roff.hasPrefix(".TH \"EVENTBUS-TAIL\" 1"))
    #expect(roff.contains("\\&.with a point in front"))
    #expect(roff.contains(".B \\-\\-format FORMAT"))
    let requests: Set = [".TH", ".SH", ".B", ".PP", ".TP", ".nf", ".fi", ".RS", ".RE"]
    for line in roff.split(separator: "\n") where line.hasPrefix(".") {
      #expect(requests.contains(String(line.prefix { $0 != " " })), "\(line)")
    }
  }

  @Test(arguments: CompletionScript.allCases)
  func `a script names the program and nothing of the template`(_ script: CompletionScript) {
    let text = script.text(program: "eventbus")
    #expect(text.contains("eventbus complete-words") || text.contains("complete-words --"))
    #expect(!text.contains("PROGRAM"))
  }
}
