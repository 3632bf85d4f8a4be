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
  private var reader = JSONEventReader()
  private var payload: [UInt8] = []
  private var outcome = PublishOutcome()
  private var refusedLines: FileWriter?

  private enum Source {
    case file(String)
    case lines([[UInt8]])
  }

  init(_ settings: PublishSettings, _ context: Commands.Context, _ file: String) throws {
    try self.init(settings, context, source: .file(file))
  }

  init(_ settings: PublishSettings, _ context: Commands.Context, lines: [[UInt8]]) throws {
    try self.init(settings, context, source: .lines(lines))
  }

  private init(_ settings: PublishSettings, _ context: Commands.Context, source: Source) throws {
    self.settings = settings
    self.context = context
    self.source = source
  }

  mutating func run() throws -> ExitCode {
    let notes = PublishNotes()
    var configuration = try settings.configuration(context)
    configuration.onNotice = { notes.take($0) }
    configuration.onRefused = { notes.refused($0) }
    let input = try openInput()
    // Only now: a file of an earlier run is not emptied for an input that is not there.
    refusedLines = try settings.refusedFile.map { try FileWriter(creating: $0) }
    let producer = try Producer(configuration)
    let start = SystemClock.monotonic()
    outcome.wasReached = try waitForBus(producer)
    let failure = try take(input, producer: outcome.wasReached ? producer : nil)
    if let failure { Terminal.error("eventbus publish: \(failure)") }
    if outcome.wasReached {
      outcome.add(producer.closeBlocking(deadline: settings.timeout))
    } else {
      outcome.unacknowledged = outcome.published
    }
    outcome.seconds = Double(SystemClock.monotonic() - start) / 1e9
    outcome.durability = notes.durability
    let code = outcome.report(settings, context)
    return failure != nil && code == .done ? .failed : code
  }

  private func openInput() throws -> InputFile? {
    guard case .file(let path) = source else { return nil }
    return try InputFile(path == "-" ? nil : path, interruption: context.interruption)
  }

  /// In short steps, so that a request to end is seen.
  private func waitForBus(_ producer: Producer) throws -> Bool {
    let end = SystemClock.monotonic() + settings.timeout.nanoseconds / 2
    while SystemClock.monotonic() < end, !context.interruption.isRequested {
      if try producer.waitUntilConnected(deadline: .milliseconds(100)) { return true }
    }
    return try producer.waitUntilConnected(deadline: .zero)
  }

  /// Publishes what is there; without a producer it is only counted. Returns what ended it early.
  private mutating func take(_ input: InputFile?, producer: Producer?) throws -> String? {
    if case .lines(let lines) = source {
      for (index, line) in lines.enumerated() {
        _ = take(.init(number: index + 1, line: .text(line)), producer)
      }
      return nil
    }
    guard let input else { return nil }
    var lines = LineReader(maximumBytes: reader.limits.eventBytes)
    var isOpen = true
    // Unreachable: what is in a file is still counted, but nobody waits for a pipe.
    while isOpen, producer == nil || !context.interruption.isRequested,
      let chunk = try input.read()
    {
      do throws(LineReader.WrongEncoding) {
        try lines.feed(chunk[...]) { line in
          isOpen = take(line, producer)
          return isOpen
        }
      } catch {
        outcome.refusedHere += 1
        return error.description
      }
      if producer == nil, input.isPipe { return nil }
    }
    guard isOpen else { return nil }
    do throws(LineReader.WrongEncoding) {
      try lines.finish { take($0, producer) }
    } catch {
      outcome.refusedHere += 1
      return error.description
    }
    return nil
  }

  /// One line; false ends the reading.
  private mutating func take(_ line: LineReader.Numbered, _ producer: Producer?) -> Bool {
    outcome.read += 1
    switch line.line {
    case .tooLong(let bytes):
      return refuse(
        line.number, "\(bytes) bytes; an event has at most \(reader.limits.eventBytes)", nil)
    case .text(let text):
      payload.removeAll(keepingCapacity: true)
      do throws(CodecError) {
        let topic = try unsafe reader.read(
          text.span.bytes, received: SystemClock.realtime(), into: &payload)
        return publish(topic, line.number, text, producer)
      } catch {
        return refuse(line.number, error.description, text)
      }
    }
  }

  private mutating func publish(
    _ topic: [UInt8], _ number: Int, _ text: [UInt8], _ producer: Producer?
  ) -> Bool {
    guard let producer else {
      outcome.published += 1
      return true
    }
    do throws(BusClientError) {
      try producer.publish(payload: payload, name: topic, sequence: UInt64(number))
      outcome.published += 1
      return true
    } catch .invalidEvent(let code, let reason) {
      return refuse(number, "\(code.rawValue): \(reason)", text)
    } catch {
      // The producer has ended; what it holds is counted by its close.
      outcome.failure = error
      return false
    }
  }

  private mutating func refuse(_ number: Int, _ reason: String, _ text: [UInt8]?) -> Bool {
    outcome.refusedHere += 1
    Terminal.error("line \(number): \(TerminalText.escape(reason))")
    if let text { refusedLines?.writeLine(text) }
    return !settings.stopsOnError
  }
}

/// What the producer's thread tells a running `publish`.
final class PublishNotes: Sendable {
  /// Refusals said one by one; after that they are only counted, in the summary.
  private static let maximumLines = 1000

  private let state = Mutex((durability: "", refused: 0, waitsFor: ""))

  var durability: String { state.withLock { $0.durability } }

  func take(_ notice: ConnectionNotice) {
    switch notice {
    case .connected(let broker):
      state.withLock { state in
        state.durability = broker.durability
        state.waitsFor = ""
      }
    case .silent: Terminal.error("the bus is silent; connecting again")
    case .refusedForNow(let code, let text):
      // Asked again with each try; said once until the connection is made anew.
      let isNew = state.withLock { state in
        defer { state.waitsFor = code }
        return state.waitsFor != code
      }
      guard isNew else { return }
      Terminal.error("the bus asks to wait (\(code)): \(TerminalText.escape(text))")
    case .sessionLost, .gap, .caughtUp, .sought: break
    }
  }

  func refused(_ event: RefusedEvent) {
    let count = state.withLock { state in
      state.refused += 1
      return state.refused
    }
    guard count < Self.maximumLines else {
      if count == Self.maximumLines { Terminal.error("further refusals are only counted") }
      return
    }
    let place = event.sequence.map { "line \($0)" } ?? "an event"
    Terminal.error("\(place): \(event.code): \(TerminalText.escape(event.text))")
  }
}
