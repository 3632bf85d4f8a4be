import BusClient
import BusProtocol
import EventCodec
import Primitives
import ServiceRuntime
import Synchronization

/// Publishes the lines of a file, of stdin, or made from arguments. One bad line never stops the rest.
struct PublishFile {
  private let settings: PublishSettings
  private let context: Commands.Context
  private let source: Source

  /// Where made events are from.
  private static let option = "--event"

  private enum Source {
    case file(String)
    case lines([[UInt8]])
  }

  init(_ settings: PublishSettings, _ context: Commands.Context, _ file: String) {
    self.init(settings, context, source: .file(file))
  }

  init(_ settings: PublishSettings, _ context: Commands.Context, lines: [[UInt8]]) {
    self.init(settings, context, source: .lines(lines))
  }

  private init(_ settings: PublishSettings, _ context: Commands.Context, source: Source) {
    self.settings = settings
    self.context = context
    self.source = source
  }

  func run() throws -> ExitCode {
    let notes = PublishNotes()
    var configuration = try settings.configuration(context)
    configuration.onNotice = { notes.take($0) }
    configuration.onReport = { notes.take($0) }
    let place: String? = if case .lines = source { Self.option } else { nil }
    configuration.onRefused = { notes.refused($0, at: place) }
    let input = try openInput()
    // Only now: a file of an earlier run is not emptied for an input that is not there.
    var lines = LinePublisher(
      refusedLines: try settings.refusedFile.map {
        try FileWriter.forRefusedLines($0, of: [input?.identity])
      },
      stopsOnError: settings.stopsOnError)
    let producer = try Producer(configuration)
    let start = SystemClock.monotonic()
    let wasReached = try producer.waitForBus(settings.timeout, context.interruption)
    lines.outcome.wasReached = wasReached
    lines.rate = settings.rate.map { SteadyRate($0) }
    let failure = try take(input, &lines, producer: wasReached ? producer : nil)
    if let failure { Terminal.error("eventbus publish: \(failure)") }
    var outcome = lines.outcome
    if wasReached {
      outcome.add(producer.closeBlocking(deadline: settings.timeout))
    } else {
      outcome.unacknowledged = outcome.published
    }
    outcome.seconds = Double(SystemClock.monotonic() - start) / 1e9
    outcome.durability = notes.durability
    let code = outcome.report(settings, context)
    return failure != nil && code == .done ? .failed : code
  }

  private func openInput() throws -> LineInput? {
    guard case .file(let path) = source else { return nil }
    return try LineInput(path == "-" ? nil : path, interruption: context.interruption)
  }

  /// Publishes what is there; without a producer it is only counted. Returns what ended it early.
  private func take(
    _ input: LineInput?, _ lines: inout LinePublisher, producer: Producer?
  ) throws -> String? {
    if let input { return try lines.takeAll(input, to: producer, context.interruption) }
    guard case .lines(let given) = source else { return nil }
    lines.option = Self.option
    for (index, line) in given.enumerated() {
      _ = lines.take(.init(number: index + 1, line: .text(line)), producer)
    }
    return nil
  }
}

extension Producer {
  /// Waits for the broker, in short steps, so that a request to end is seen.
  func waitForBus(
    _ timeout: Duration, _ interruption: Interruption
  ) throws(BusClientError) -> Bool {
    let end = SystemClock.monotonic() + timeout.nanoseconds
    while SystemClock.monotonic() < end, !interruption.isRequested {
      if try waitUntilConnected(deadline: .milliseconds(100)) { return true }
      if let denial { throw .denied(text: denial) }
    }
    return try waitUntilConnected(deadline: .zero)
  }
}

/// What the producer's thread tells a running `publish`.
final class PublishNotes: Sendable {
  /// Refusals said one by one; after that they are only counted, in the summary.
  private static let maximumLines = 1000

  private let state = Mutex((durability: "", refused: 0))
  private let connection = BusNotes()
  /// Said before "line N": nothing, or which file it is.
  private let place: String

  init(place: String = "") { self.place = place }

  var durability: String { state.withLock { $0.durability } }

  func take(_ notice: ConnectionNotice) {
    connection.take(notice)
    if case .connected(let broker) = notice {
      state.withLock { $0.durability = broker.durability }
    }
  }

  func take(_ report: OperatorReport) { connection.take(report) }

  /// - Parameter given: where the event is from; nil: its line, where it has a number.
  func refused(_ event: RefusedEvent, at given: String? = nil) {
    let count = state.withLock { state in
      state.refused += 1
      return state.refused
    }
    guard count < Self.maximumLines else {
      if count == Self.maximumLines { Terminal.error("further refusals are only counted") }
      return
    }
    let line = given ?? event.sequence.map { "line \($0)" } ?? "an event"
    Terminal.error("\(place)\(line): \(event.code): \(TerminalText.escape(event.text))")
  }
}
