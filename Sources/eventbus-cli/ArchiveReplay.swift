import Archive
import BusClient
import BusProtocol
import Primitives
import ServiceRuntime

/// One run of `archive replay`.
struct ArchiveReplay {
  /// Refusals said one by one; after that they are only counted.
  private static let maximumLines = 1000

  private let settings: ArchiveReplaySettings
  private let context: Commands.Context

  init(_ settings: ArchiveReplaySettings, _ context: Commands.Context) {
    self.settings = settings
    self.context = context
  }

  func run() throws -> ExitCode {
    let start = SystemClock.monotonic()
    var replay = try CommandFailure.translating { () throws(ArchiveError) in
      try Replay(
        try ReplaySource(settings.directory), settings.definition, settings.filter,
        stateFolder: settings.stateFolder, again: settings.again)
    }
    // Of a dry run too: it says what the real one would do.
    if !settings.takesAnyName {
      try SubscriberNames.check(settings.definition.subscribers, context.arguments)
    }
    let interruption = context.interruption
    if settings.isDryRun {
      let names = NameCounts()
      let report = try CommandFailure.translating { () throws(ArchiveError) in
        try replay.dryRun(isCancelled: { interruption.isRequested }) { names.add($0) }
      }
      var summary = ReplaySummary(report, replay.state)
      summary.names = names
      return end(summary, start)
    }
    let notes = PublishNotes()
    let bar = SharedProgress("sent")
    let report = try send(&replay, notes, bar)
    bar.finish()
    var summary = ReplaySummary(report, replay.state)
    summary.isResumed = replay.isResumed
    summary.durability = notes.durability
    return end(summary, start)
  }

  /// Nil when the bus does not answer.
  private func connect(
    _ identity: [UInt8], _ epoch: UInt32, _ notes: PublishNotes
  ) throws(BusClientError) -> Producer? {
    var configuration = ProducerConfiguration(
      address: settings.bus, client: "eventbus archive replay")
    configuration.identity = .bytes(identity)
    configuration.addressees = settings.definition.subscribers
    // Enough to keep the bus busy, and little to lose sight of when it is stopped.
    configuration.maximumEvents = 100_000
    configuration.onNotice = { notes.take($0) }
    configuration.onReport = { notes.take($0) }
    configuration.onRefused = { event in
      let place = event.sequence.flatMap { ReplaySequence.position(of: $0, epoch: epoch) }
      notes.refused(event, at: place.map(Self.text))
    }
    let producer = try Producer(configuration)
    return try producer.waitForBus(settings.timeout, context.interruption) ? producer : nil
  }

  private func send(
    _ replay: inout Replay, _ notes: PublishNotes, _ bar: SharedProgress
  ) throws -> Replay.Report {
    let interruption = context.interruption
    var steering = Replay.Steering()
    steering.isCancelled = { interruption.isRequested }
    steering.rate = settings.rate
    // A request to end wakes it.
    steering.pause = { interruption.wait(milliseconds: $0) }
    steering.onProgress = { bar.update(Int(clamping: $0)) }
    var refused = 0
    steering.onRefused = { place, reason in
      refused += 1
      guard refused <= Self.maximumLines else { return }
      Terminal.error("\(Self.text(place)): \(TerminalText.escape(reason))")
    }
    do throws(ArchiveError) {
      return try replay.run(deadline: settings.timeout, steering) {
        identity, epoch throws(BusClientError) in try connect(identity, epoch, notes)
      }
    } catch {
      throw CommandFailure(error)
    }
  }

  private static func text(_ place: Position) -> String {
    "offset \(place.offset) of epoch \(place.epoch)"
  }

  private func end(_ summary: ReplaySummary, _ start: Int64) -> ExitCode {
    var summary = summary
    summary.seconds = Double(SystemClock.monotonic() - start) / 1e9
    summary.show(settings)
    return summary.code(context.interruption.code)
  }
}

/// A progress bar that closures share; all on one thread.
final class SharedProgress {
  private var bar: ProgressBar

  init(_ label: String, total: Int? = nil) { bar = ProgressBar(label, total: total) }

  func update(_ done: Int) { bar.update(done) }
  func finish() { bar.finish() }
}
