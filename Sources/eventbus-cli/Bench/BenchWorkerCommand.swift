import BusClient
import LoadTest
import Primitives
import ServiceRuntime

/// `eventbus bench-worker`: one producer or subscriber, started by `bench`. It says `ready`, then
/// `progress N`, and leaves its result in a file.
enum BenchWorkerCommand {
  static let entry: Commands.Entry = {
    var definition = CommandDefinition(
      name: "bench-worker", group: "Events", summary: "A producer or subscriber of bench.",
      options: [
        .option("role", "ROLE", help: "What it does.", choices: ["producer", "subscriber"]),
        .option("index", "N", help: "Which one it is, from 0."),
        .option("run", "N", help: "The number of the test."),
        .option("mode", "MODE", help: "How it reads.", choices: ["durable", "live"]),
        .option("producers", "P", help: "How many publish."),
        .option("subscribers", "S", help: "How many read."),
        .option("size", "BYTES", help: "Bytes of an event."),
        .option("batch", "N", help: "Most events in a batch."),
        .option("rate", "R", help: "Events a second, of all together."),
        .option("events", "N", help: "How many, of all together."),
        .option("duration", "TIME", help: "How long."),
        .option("warm-up", "TIME", help: "Before it counts."),
        .option("give-up", "TIME", help: "So far behind, it stops."),
        .option("from", "OFFSET", help: "Where reading begins."),
        .flag("addressed", help: "To the test's subscribers alone."),
        .option("timeout", "TIME", help: "How long to wait for the bus."),
        .option("result", "FILE", help: "Where the result goes."),
      ])
    definition.isHidden = true
    return Commands.Entry(definition: definition, run: run)
  }()

  static func words(
    _ role: String, _ settings: WorkerSettings, result: String
  ) -> [String] {
    var words = [
      "bench-worker", "--role", role, "--bus", settings.bus, "--index", "\(settings.index)",
      "--run", "\(settings.run)", "--mode", settings.mode.rawValue,
      "--producers", "\(settings.producers)", "--subscribers", "\(settings.subscribers)",
      "--size", "\(settings.size)", "--batch", "\(settings.batch)",
      "--from", "\(settings.fromOffset)", "--warm-up", nanoseconds(settings.warmUp),
      "--timeout", nanoseconds(settings.timeout), "--result", result,
    ]
    if let rate = settings.rate { words += ["--rate", "\(rate)"] }
    if let events = settings.events { words += ["--events", "\(events)"] }
    if let duration = settings.duration { words += ["--duration", nanoseconds(duration)] }
    if let giveUp = settings.giveUpBehind { words += ["--give-up", nanoseconds(giveUp)] }
    if settings.isAddressed { words.append("--addressed") }
    return words
  }

  private static func nanoseconds(_ duration: Duration) -> String { "\(duration.nanoseconds)ns" }

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let settings = try settings(context.arguments)
    let interruption = context.interruption
    let hooks = WorkerHooks(
      ready: { Terminal.output("ready\n") },
      progress: { Terminal.output("progress \($0)\n") },
      isStopped: { interruption.isRequested })
    let path = try context.arguments.requiredText("result")
    do {
      let result =
        if try context.arguments.requiredText("role") == "producer" {
          try producer(settings, hooks).bytes
        } else {
          try subscriber(settings, hooks).bytes
        }
      try WorkerFile.write(result, to: path)
      return .done
    } catch let error as LoadTestError {
      throw CommandFailure(error.isUnreachable ? .busUnreachable : .failed, error.text)
    }
  }

  private static func producer(
    _ settings: WorkerSettings, _ hooks: WorkerHooks
  ) throws -> ProducerResult {
    try LoadProducer(settings, hooks).run()
  }

  private static func subscriber(
    _ settings: WorkerSettings, _ hooks: WorkerHooks
  ) throws -> SubscriberResult {
    var subscriber = LoadSubscriber(settings, hooks)
    return try subscriber.run()
  }

  private static func settings(_ arguments: Arguments) throws(UsageError) -> WorkerSettings {
    var settings = WorkerSettings(
      bus: try arguments.requiredText("bus"),
      run: UInt64(try arguments.value("run", in: 0...Int.max)),
      mode: WorkerSettings.Mode(rawValue: try arguments.requiredText("mode")) ?? .durable,
      index: try arguments.value("index", in: 0...1000))
    settings.producers = try arguments.value("producers", in: 1...1000)
    settings.subscribers = try arguments.value("subscribers", in: 0...1000)
    settings.size = try arguments.value("size", as: Int.self)
    settings.batch = try arguments.value("batch", as: Int.self)
    settings.rate = try arguments.optional("rate", as: Rate.self)?.perSecond
    settings.events = try arguments.optional("events", in: 0...Int.max).map(UInt64.init)
    settings.duration = try arguments.optional("duration", as: Duration.self)
    settings.warmUp = try arguments.value("warm-up", as: Duration.self)
    settings.giveUpBehind = try arguments.optional("give-up", as: Duration.self)
    settings.fromOffset = UInt64(try arguments.value("from", in: 0...Int.max))
    settings.isAddressed = arguments.flag("addressed")
    settings.timeout = try arguments.value("timeout", as: Duration.self)
    return settings
  }
}

/// The file in which a worker leaves its result: bytes, written at once and read at once.
enum WorkerFile {
  static func write(_ bytes: [UInt8], to path: String) throws {
    let file = try FileWriter(creating: path)
    file.write(bytes)
  }

  static func read(_ path: String, _ interruption: Interruption) throws -> [UInt8] {
    let file = try InputFile(path, interruption: interruption)
    var bytes: [UInt8] = []
    while let chunk = try file.read() { bytes += chunk }
    return bytes
  }
}
