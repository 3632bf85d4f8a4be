import BusClient
import BusProtocol
import Primitives
import ServiceRuntime

/// One run of `tail`: batches in, lines out, until the end, the count, the reader or a signal stops it.
struct TailRun: ~Copyable {
  private let settings: TailSettings
  private let context: Commands.Context
  private var printer: TailPrinter
  /// The next event to show: what lies before it was shown or is not wanted.
  private var cursor: Position?
  private var saidPaused = false

  init(_ settings: TailSettings, _ context: Commands.Context) {
    self.settings = settings
    self.context = context
    printer = TailPrinter(settings)
  }

  mutating func run() throws -> ExitCode {
    let subscriber = try open()
    guard try subscriber.waitUntilLetIn(deadline: settings.timeout) else {
      throw CommandFailure.unreachable(settings.address, within: settings.timeout)
    }
    tellBeyond(subscriber.status.opened?.head ?? 0)
    if settings.saysReady { Terminal.error("ready head=\(subscriber.status.opened?.head ?? 0)") }
    let end = settings.untilEnd ? subscriber.status.opened?.head : nil
    printer.begin()
    var seen: UInt64 = 0
    while !context.interruption.isRequested, !printer.isDone {
      if let end, seen >= end { break }
      let batch: EventBatch?
      do throws(BusClientError) {
        batch = try subscriber.nextBatch(deadline: .milliseconds(100))
      } catch {
        return try ended(error)
      }
      guard let batch else {
        // Nothing waits here, so what the subscriber has reached was given out.
        seen = max(seen, subscriber.status.position?.offset ?? 0)
        printer.lookForReader()
        try lookForPause(subscriber, isDone: end.map { seen >= $0 } ?? false)
        continue
      }
      seen = batch.end.offset
      if let gap = batch.gap { Terminal.error("gap: \(gap)") }
      take(batch, end)
      printer.flush()
      if !settings.name.isEmpty, !printer.isClosed { commit(subscriber) }
    }
    if !settings.name.isEmpty, let cursor, !printer.isClosed {
      _ = try? subscriber.waitForCommit(cursor, deadline: .seconds(2))
    }
    subscriber.closeBlocking()
    printer.tellUnseen()
    return context.interruption.code ?? .done
  }

  /// A paused name gets nothing: who waits for the end would wait for ever.
  private mutating func lookForPause(_ subscriber: Subscriber, isDone: Bool) throws {
    guard subscriber.status.isPaused, !isDone else { return saidPaused = false }
    let name = TerminalText.escape(settings.name)
    let text = "'\(name)' is paused and gets nothing: `eventbus consumers resume` it"
    if settings.untilEnd {
      subscriber.close()
      throw CommandFailure(.failed, text)
    }
    if !saidPaused { Terminal.error(text) }
    saidPaused = true
  }

  private func open() throws -> Subscriber {
    var configuration = SubscriberConfiguration(
      address: settings.address, client: "eventbus tail", name: settings.name)
    configuration.filters = settings.filters
    configuration.start = settings.start
    configuration.reset = settings.resetsFilters
    configuration.onGap = settings.stopsAtGap ? .stop : .continue
    let notes = BusNotes()
    configuration.onNotice = { notes.take($0) }
    configuration.onReport = { notes.take($0) }
    return try Subscriber(configuration)
  }

  /// Who gives an offset that is not there yet would wonder why he sees something else, or nothing.
  private func tellBeyond(_ head: UInt64) {
    guard case .offset(let offset) = settings.start, offset > head else { return }
    Terminal.error(
      "note: offset \(offset) lies beyond the end of the journal: it begins at \(head), its head")
  }

  private func ended(_ error: BusClientError) throws -> ExitCode {
    switch error {
    case .fenced: throw CommandFailure(.fenced, "\(error)")
    case .gap: throw CommandFailure(.gap, "\(error)")
    default: throw CommandFailure(.failed, "\(error)")
    }
  }

  private func commit(_ subscriber: Subscriber) {
    if let cursor { subscriber.commit(cursor) }
  }

  /// Shows a batch, or as much of it as is asked for: then the cursor stays at the first one left.
  private mutating func take(_ batch: EventBatch, _ end: UInt64?) {
    var next = batch.end
    batch.forEach { place, name, payload in
      guard !printer.isDone, place.offset < end ?? .max else {
        next = min(next, Position(epoch: place.epoch, offset: place.offset))
        return
      }
      printer.show(payload, name, offset: place.offset)
    }
    cursor = next
  }
}
