import LoadTest
import Primitives
import ServiceRuntime

/// `eventbus bench`: producers, a broker and subscribers as processes, and what they show together.
enum BenchCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "bench", group: "Events",
      summary:
        "Measures the bus under load, and checks that every event came once, whole, in order.",
      options: [
        .option("events", "N", help: "How many events; the first fifth at most is warm-up."),
        .option(
          "duration", "TIME",
          help: "How long to measure, after the warm-up. Default: 10s; 5s for each rate of --slo."),
        .option(
          "rate", "R",
          help:
            "Events a second, as 5000 or 50k, sent whether or not the bus keeps up, and latency "
            + "counted from when each was meant to be sent. Default: as fast as it goes."),
        .option(
          "slo", "P99", help: "Find the highest rate that keeps this p99, from --rate (10k) on."),
        .flag(
          "backlog", help: "Publish while nobody reads, then measure how fast it is read."),
        .option("size", "BYTES", help: "Bytes of one event.", default: "200"),
        .option("batch", "N", help: "Most events in a batch.", default: "500"),
        .option("producers", "P", help: "Processes that publish.", default: "1"),
        .option("subscribers", "S", help: "Processes that each read everything.", default: "1"),
        .option(
          "mode", "MODE", help: "How subscribers read: durable (by cursor) or live (the feed).",
          default: "durable", choices: ["durable", "live"]),
        .option("warm-up", "TIME", help: "Sent before what is measured.", default: "1s"),
        .option(
          "durability", "MODE", help: "Of the broker that bench starts: fsync, os or none.",
          default: "fsync", choices: ["fsync", "os", "none"]),
        .option(
          "data", "DIR",
          help: "Where its temporary data directory is made: the disk that is measured. "
            + "Default: TMPDIR, else /tmp."),
        .option(
          "bus", "URL",
          help: "Measure a running bus instead of one of its own. The events go to the test's own "
            + "subscribers alone. EVENTBUS_URL and EVENTBUS_BUS do not count here."
        ).onlyOnCommandLine,
        .flag(
          "everybody", help: "With --bus --mode live: yes, all who listen there get the events."),
        .option(
          "timeout", "TIME", help: "How long to wait for the bus, and for the last events.",
          default: "10s"),
        .option(
          "histogram", "FILE", help: "Write the latencies there, in HdrHistogram's text layout."),
        .json,
      ],
      exclusive: [
        ["events", "duration"], ["slo", "events"], ["slo", "backlog"],
      ],
      examples: [
        CommandExample("eventbus bench", "The most this machine takes, for ten seconds."),
        CommandExample(
          "eventbus bench --rate 10k --histogram latency.hgrm", "Latency at a steady rate."),
        CommandExample(
          "eventbus bench --slo 10ms --producers 2 --subscribers 3",
          "The highest rate at which 99 of 100 events arrive within 10 ms."),
      ]),
    run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let settings = try BenchSettings(context.arguments)
    let scratch = try ScratchFolder(
      in: settings.data, prefix: "eventbus-bench", environment: context.environment)
    // What cannot be written is better known before a long test than behind it.
    let histogram = try settings.histogram.map { try FileWriter(creating: $0) }
    let run = BenchRun(settings, context, scratch)
    let report: BenchReport
    do {
      report = try run.measure()
    } catch is BenchInterrupted {
      return context.interruption.code ?? .interrupted
    }
    histogram?.write(PercentileText(report.outcome.latencies).text)
    Terminal.output(settings.json ? "\(report.json)\n" : report.text)
    return report.code
  }
}

/// The command was asked to end.
struct BenchInterrupted: Error {}

/// The command line of `bench`, read and checked.
struct BenchSettings {
  /// Nil: a broker of its own.
  var bus: String?
  var events: UInt64?
  var duration: Duration?
  var rate: Double?
  var slo: Duration?
  var backlog: Bool
  var size: Int
  var batch: Int
  var producers: Int
  var subscribers: Int
  var mode: WorkerSettings.Mode
  var warmUp: Duration
  var durability: String
  var data: String?
  var timeout: Duration
  var histogram: String?
  var json: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    bus = arguments.text("bus")
    events = try arguments.optional("events", in: 1...Int.max).map(UInt64.init)
    duration = try arguments.optional("duration", as: Duration.self)
    rate = try arguments.optional("rate", as: Rate.self)?.perSecond
    slo = try arguments.optional("slo", as: Duration.self)
    backlog = arguments.flag("backlog")
    size = try arguments.value("size", as: ByteSize.self).bytes
    batch = try arguments.value("batch", in: 1...1000)
    producers = try arguments.value("producers", in: 1...100)
    subscribers = try arguments.value("subscribers", in: 0...100)
    mode = WorkerSettings.Mode(rawValue: try arguments.requiredText("mode")) ?? .durable
    warmUp = try arguments.value("warm-up", as: Duration.self)
    durability = try arguments.requiredText("durability")
    data = arguments.text("data")
    timeout = try arguments.value("timeout", as: Duration.self)
    histogram = try arguments.outputFile("histogram", besides: "the report")
    json = arguments.flag("json")
    if events == nil, duration == nil { duration = slo == nil ? .seconds(10) : .seconds(5) }
    try check(isForEverybody: arguments.flag("everybody"))
  }

  private func check(isForEverybody: Bool) throws(UsageError) {
    let smallest = ProbePlaces.minimumSize
    guard (smallest...(256 << 10)).contains(size) else {
      throw UsageError("--size must be from \(smallest) to 262144 bytes, not \(size)")
    }
    if backlog, mode == .live {
      throw UsageError("--backlog needs --mode durable: the live feed keeps nothing")
    }
    if subscribers == 0, slo != nil || backlog || histogram != nil {
      throw UsageError("--subscribers 0 leaves nobody to measure with: give at least 1")
    }
    if bus != nil, mode == .live, !isForEverybody {
      throw UsageError(
        "--mode live on a running bus sends the events to all who listen there, archiver and "
          + "publishers included; say --everybody if that is meant")
    }
  }
}
