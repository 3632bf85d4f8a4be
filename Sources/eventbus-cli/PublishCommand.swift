import BusClient
import Primitives
import ServiceRuntime

/// `eventbus publish`: events from arguments, a file or stdin; with a count or duration, or a rate without a
/// file, a load test.
enum PublishCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "publish", group: "Events",
      summary: "Publishes events and waits until they are on the broker's disk.",
      positionals: [
        PositionalDefinition(
          "FILE",
          help:
            "NDJSON, one event a line (a line without \"type\" is a track), gzip or not; - is stdin.",
          count: .optional)
      ],
      options: [
        .repeated(
          "event", "NAME", help: "Publish one event of this name; in a load test, take turns."),
        .repeated(
          "property", "K=V", help: "A property of it; V is JSON where it parses, else text."),
        .option("user", "ID", help: "Its userId."),
        .option("count", "N", help: "Load test: publish N events, those of FILE over and over."),
        .option(
          "rate", "R",
          help:
            "Events a second, as 5000 or 50k, of FILE or of a load test; default as fast as it goes."
        ),
        .option("duration", "TIME", help: "Load test: publish for so long."),
        .option("producers", "P", help: "Load test: producers side by side.", default: "1"),
        .option("size", "BYTES", help: "Load test: bytes of one event.", default: "200"),
        .option(
          "producer", "NAME",
          help: "An identity for a file: published again, nothing is stored twice (by line)."),
        .option("refused", "FILE", help: "Keep refused lines in FILE; - is stdout."),
        .flag("stop-on-error", help: "Stop at the first refused line."),
        .option(
          "timeout", "TIME", help: "How long to wait for the bus, and at the end for it.",
          default: "10s"),
        .option("batch", "N", help: "Most events in a batch.", default: "500"),
        .flag("json", help: "One line of JSON on stdout at the end."),
      ],
      exclusive: [["producer", "count"], ["producer", "duration"], ["producer", "producers"]],
      examples: [
        CommandExample(
          "eventbus publish --event 'Game Started' --property opponentType=human", "One event."),
        CommandExample("eventbus publish events.ndjson --refused bad.ndjson", "A file."),
        CommandExample(
          "eventbus publish --count 1000000 --producers 2", "A load test with made events."),
      ]),
    run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let settings = try PublishSettings(context.arguments)
    if settings.isLoadTest { return try PublishLoad(settings, context).run() }
    let publish =
      if let file = settings.file {
        PublishFile(settings, context, file)
      } else {
        PublishFile(settings, context, lines: [try settings.singleEvent()])
      }
    return try publish.run()
  }
}

/// The command line of `publish`, read and checked.
struct PublishSettings {
  var file: String?
  var names: [String]
  var properties: [String]
  var user: String?
  var count: Int?
  var rate: Double?
  var duration: Duration?
  var producers: Int
  var size: Int
  var identity: ProducerIdentity
  var refusedFile: String?
  var stopsOnError: Bool
  var timeout: Duration
  var batch: Int
  var json: Bool

  var isLoadTest: Bool { count != nil || duration != nil || (rate != nil && file == nil) }

  init(_ arguments: Arguments) throws(UsageError) {
    file = arguments.positionals.first
    names = arguments.texts("event")
    properties = arguments.texts("property")
    user = arguments.text("user")
    count = try arguments.optional("count", in: 0...Int.max)
    rate = try arguments.optional("rate", as: Rate.self)?.perSecond
    duration = try arguments.optional("duration", as: Duration.self)
    producers = try arguments.value("producers", in: 1...1000)
    size = try arguments.value("size", as: ByteSize.self).bytes
    identity = arguments.text("producer").map { .named($0) } ?? .random
    json = arguments.flag("json")
    refusedFile = try arguments.outputFile("refused", besides: json ? "the line of --json" : nil)
    stopsOnError = arguments.flag("stop-on-error")
    timeout = try arguments.value("timeout", as: Duration.self)
    batch = try arguments.value("batch", in: 1...1000)
    if file == nil, names.isEmpty, !isLoadTest {
      throw UsageError("nothing to publish: give FILE, - for stdin, or --event NAME")
    }
    if file != nil, !names.isEmpty {
      throw UsageError("FILE and --event contradict each other: give one of them")
    }
    if !isLoadTest, names.count > 1 {
      throw UsageError("--event: several names need a load test (--count, --rate or --duration)")
    }
    if names.isEmpty, !properties.isEmpty { throw UsageError("--property needs --event") }
    try checkUnheeded(arguments)
  }

  /// What was typed and would change nothing: who typed it expects otherwise.
  private func checkUnheeded(_ arguments: Arguments) throws(UsageError) {
    func refuse(_ options: [String], _ why: String) throws(UsageError) {
      guard let option = options.first(where: { arguments.isTyped($0) }) else { return }
      throw UsageError("--\(option) is for \(why)")
    }
    if isLoadTest {
      try refuse(["property", "user"], "the one event of --event: a load test makes its own")
      try refuse(
        ["refused", "stop-on-error"], "the lines of FILE: a load test counts what is refused")
      try refuse(["producer"], "the lines of FILE: the producers of a load test are new ones")
      if file != nil { try refuse(["size"], "made events: those of FILE have their own") }
    } else {
      try refuse(["producers", "size"], "a load test, with --count, --rate or --duration")
      if file != nil {
        try refuse(["user"], "the one event of --event: the lines of FILE have their own")
      }
    }
  }

  func configuration(_ context: Commands.Context) throws(UsageError) -> ProducerConfiguration {
    var configuration = ProducerConfiguration(
      address: try context.arguments.requiredText("bus"), client: "eventbus publish")
    configuration.identity = identity
    configuration.batchEvents = batch
    return configuration
  }

  /// The one event of `--event`, as a line of JSON: the same checks hold for it as for a file.
  func singleEvent() throws(UsageError) -> [UInt8] {
    var members: [JSONText.Member] = [
      .init("type", "track"), .init("event", .text(names[0])),
    ]
    if let user { members.append(.init("userId", .text(user))) }
    var line = JSONText.object(members).utf8
    line.removeLast()
    line.append(contentsOf: ",\"properties\":{".utf8)
    var keys: Set<[UInt8]> = []
    for (index, property) in properties.enumerated() {
      guard let equals = property.firstIndex(of: "="), equals > property.startIndex else {
        throw UsageError("--property: '\(property)' is not K=V")
      }
      guard keys.insert(Array(property[..<equals].utf8)).inserted else {
        throw UsageError("--property: '\(property[..<equals])' is given twice")
      }
      if index > 0 { line.append(UInt8(ascii: ",")) }
      line.append(contentsOf: JSONText.text(String(property[..<equals])).utf8)
      line.append(UInt8(ascii: ":"))
      line.append(contentsOf: GivenValue.json(String(property[property.index(after: equals)...])))
    }
    line.append(contentsOf: "}}".utf8)
    return line
  }
}
