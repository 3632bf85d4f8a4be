import BusClient
import BusProtocol
import EventCodec
import Primitives
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// One run of `tail`: batches in, lines out, until the end, the count, the reader or a signal stops it.
struct TailRun: ~Copyable {
  private let settings: TailSettings
  private let context: Commands.Context
  private var output = TailOutput()
  private var format: TailFormat
  private var printed = 0

  init(_ settings: TailSettings, _ context: Commands.Context) {
    self.settings = settings
    self.context = context
    format = TailFormat(settings)
  }

  mutating func run() throws -> ExitCode {
    let subscriber = try open()
    guard try subscriber.waitUntilOpened(deadline: settings.timeout) else {
      throw CommandFailure(
        .busUnreachable, "no answer from \(settings.address) within \(settings.timeout)")
    }
    if settings.saysReady { Terminal.error("ready head=\(subscriber.status.opened?.head ?? 0)") }
    let end = settings.untilEnd ? subscriber.status.opened?.head : nil
    output.begin(format.heading)
    var seen: UInt64 = 0
    while !context.interruption.isRequested, !output.isClosed, !isComplete {
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
        output.lookForReader()
        continue
      }
      seen = batch.end.offset
      if let gap = batch.gap { Terminal.error("gap: \(gap)") }
      take(batch, end)
      output.flush()
      if !settings.name.isEmpty, !output.isClosed { subscriber.commit(batch) }
    }
    if !settings.name.isEmpty, let position = subscriber.status.position, !output.isClosed {
      _ = try? subscriber.waitForCommit(position, deadline: .seconds(2))
    }
    subscriber.close()
    return context.interruption.code ?? .done
  }

  private var isComplete: Bool { settings.count.map { printed >= $0 } ?? false }

  private func open() throws -> Subscriber {
    var configuration = SubscriberConfiguration(
      address: settings.address, client: "eventbus tail", name: settings.name)
    configuration.filters = settings.filters
    configuration.start = settings.start
    configuration.onGap = settings.stopsAtGap ? .stop : .continue
    configuration.onNotice = { notice in
      if case .silent = notice { Terminal.error("the bus is silent; connecting again") }
    }
    return try Subscriber(configuration)
  }

  private func ended(_ error: BusClientError) throws -> ExitCode {
    switch error {
    case .fenced: throw CommandFailure(.fenced, "\(error)")
    case .gap: throw CommandFailure(.gap, "\(error)")
    default: throw CommandFailure(.failed, "\(error)")
    }
  }

  private mutating func take(_ batch: EventBatch, _ end: UInt64?) {
    batch.forEach { place, name, payload in
      guard !isComplete, !output.isClosed, place.offset < end ?? .max else { return }
      show(payload, name, offset: place.offset)
    }
  }

  private mutating func show(_ payload: RawSpan, _ name: RawSpan, offset: UInt64) {
    for clause in settings.clauses where !clause.matches(payload) { return }
    do throws(CodecError) {
      try format.line(payload, name, offset: offset) { output.writeLine($0) }
      printed += 1
    } catch {
      Terminal.error("offset \(offset): the event cannot be shown: \(error)")
    }
  }
}

/// Lines to stdout, until whoever reads them has gone: then there is nothing left to do, and no fault.
private struct TailOutput: ~Copyable {
  private var output = StandardOutput()
  private(set) var isClosed = false

  mutating func begin(_ heading: String?) {
    guard let heading else { return }
    writeLine(Array(heading.utf8))
    flush()
  }

  mutating func writeLine(_ bytes: [UInt8]) {
    attempt { output throws(SystemError) in try unsafe output.writeLine(bytes.span.bytes) }
  }

  /// After each batch: whoever reads along gets every line as soon as it is there.
  mutating func flush() { attempt { output throws(SystemError) in try output.flush() } }

  private mutating func attempt(_ body: (inout StandardOutput) throws(SystemError) -> Void) {
    do throws(SystemError) {
      try body(&output)
    } catch {
      Terminal.error("eventbus tail: stdout: \(error)")
      isClosed = true
    }
    isClosed = isClosed || output.isClosed
  }

  /// On an idle bus nothing is written, so nothing fails: this notices a reader that has gone.
  mutating func lookForReader() {
    var item = pollfd(fd: 1, events: 0, revents: 0)
    if unsafe poll(&item, 1, 0) > 0, item.revents & Int16(POLLERR) != 0 { isClosed = true }
  }
}
