import BusClient
import BusProtocol
import EventCodec
import EventModel
import Primitives
import ServiceRuntime
import TrackingPlan

/// The events that a `plan` command looks at: a file's, stdin's, or those that the bus has.
struct PlanEventSource {
  static let positional = PositionalDefinition(
    "FILE", help: "NDJSON, gzip or not; - is stdin. Without it the events that the bus has.",
    count: .optional)

  static let options: [OptionDefinition] = [
    .option(
      "since", "WHERE",
      help: "Of the bus, events from there on: earliest, an offset, a time, or an age as 7d.",
      default: "earliest"),
    .repeated("event", "PATTERN", help: "Only events with such names."),
    .option("timeout", "TIME", help: "How long to wait for each answer of the bus.", default: "5s"),
  ]

  /// How many lines or events were read, and how many of them could not be.
  struct Outcome {
    var read = 0
    var refused = 0
    /// Whether a request to end has ended it.
    var isInterrupted = false

    /// The exit code where nothing else went wrong.
    var code: ExitCode { refused > 0 ? .someInputRefused : .done }
  }

  private let context: Commands.Context
  private let path: String?
  private let start: StartPosition
  private let patterns: [EventPattern]
  private let globs: [String]

  /// - Parameter index: which positional is FILE.
  init(_ context: Commands.Context, positional index: Int) throws(UsageError) {
    self.context = context
    let positionals = context.arguments.positionals
    guard positionals.filter({ $0 == "-" }).count < 2 else {
      throw UsageError("only one of PLAN and FILE can be stdin")
    }
    path = index < positionals.count ? positionals[index] : nil
    start = try StartText.position(
      try context.arguments.requiredText("since"), naming: "--since")
    globs = try context.arguments.names("event")
    patterns = globs.map { EventPattern($0) }
    if path != nil, context.arguments.isGiven("since") {
      throw UsageError("--since is for the bus; leave it out, or FILE")
    }
  }

  /// What places are, for messages.
  var placeName: String { path == nil ? "offset" : "line" }

  /// Gives each track event with its line or offset, in order.
  func forEach(_ body: (EventEnvelope, UInt64) -> Void) throws -> Outcome {
    guard let path else { return try readBus(body) }
    return try readFile(path, body)
  }

  private func readFile(
    _ path: String, _ body: (EventEnvelope, UInt64) -> Void
  ) throws -> Outcome {
    let input = try LineInput(path == "-" ? nil : path, interruption: context.interruption)
    var lines = LineReader()
    var reader = JSONEventReader()
    var outcome = Outcome()
    func take(_ line: LineReader.Numbered) -> Bool {
      outcome.read += 1
      do throws(CodecError) {
        guard case .text(let text) = line.line else { throw CodecError(.tooLarge, at: 0) }
        var payload: [UInt8] = []
        _ = try unsafe reader.read(text.span.bytes, received: 0, into: &payload)
        try unsafe give(payload.span.bytes, UInt64(line.number), body)
      } catch {
        outcome.refused += 1
        Terminal.error("line \(line.number): \(TerminalText.escape("\(error)"))")
      }
      return true
    }
    do {
      while !context.interruption.isRequested, let chunk = try input.read() {
        try lines.feed(chunk[...], take)
      }
      try lines.finish(take)
    } catch let error as LineReader.WrongEncoding {
      throw CommandFailure(.failed, "\(input.name): \(error)")
    } catch let error as LineInput.Damage {
      throw CommandFailure(.failed, "\(input.name): \(error), behind line \(lines.number)")
    }
    outcome.isInterrupted = context.interruption.isRequested
    return outcome
  }

  private func readBus(_ body: (EventEnvelope, UInt64) -> Void) throws -> Outcome {
    var outcome = Outcome()
    let filters = globs.map { NameFilter(.glob, $0) }
    _ = try Administration.ask(context.arguments) { bus throws(BusClientError) in
      let head = try bus.status().number("head")
      guard head > 0 else { return }
      try bus.fetch(from: start, to: head, filters: filters) { batch throws(BusClientError) in
        batch.forEach { place, _, payload in
          guard !place.isAddressed else { return }
          outcome.read += 1
          do throws(CodecError) {
            try give(payload, place.offset, body)
          } catch {
            outcome.refused += 1
            Terminal.error("offset \(place.offset): \(TerminalText.escape("\(error)"))")
          }
        }
        return !context.interruption.isRequested
      }
    }
    outcome.isInterrupted = context.interruption.isRequested
    return outcome
  }

  private func give(
    _ payload: RawSpan, _ place: UInt64, _ body: (EventEnvelope, UInt64) -> Void
  ) throws(CodecError) {
    let event = try EventEnvelope(payload: payload)
    // Plans are events too, and no product's.
    guard event.kind == .track, let name = event.event,
      EventType(name) != PublishedPlan.eventName
    else { return }
    guard patterns.isEmpty || patterns.contains(where: { $0.matches(Array(name.utf8)) }) else {
      return
    }
    body(event, place)
  }
}

/// Plans from files and from the bus.
enum PlanInput {
  static let positional = PositionalDefinition("PLAN", help: "The plan's file, JSON; - is stdin.")

  static func read(_ path: String, _ context: Commands.Context) throws -> PlanDocument {
    let file = try InputFile(path == "-" ? nil : path, interruption: context.interruption)
    var bytes: [UInt8] = []
    while bytes.count <= PlanLimits.maximumBytes, let chunk = try file.read() { bytes += chunk }
    do throws(PlanError) {
      return try PlanDocument(parsing: bytes, path: file.name)
    } catch {
      throw CommandFailure(.failed, TerminalText.escape("\(error)"))
    }
  }

  /// The plan in force: the highest version that the bus has.
  static func published(_ context: Commands.Context) throws -> PublishedPlan? {
    var feed = PlanFeed()
    _ = try Administration.ask(context.arguments) { bus throws(BusClientError) in
      let filter = NameFilter(.exact, PublishedPlan.eventName.rawValue)
      try bus.fetch(from: .earliest, filters: [filter]) { batch throws(BusClientError) in
        batch.forEach { place, _, payload in
          guard !place.isAddressed else { return }
          do throws(CodecError) {
            _ = feed.take(try EventEnvelope(payload: payload).properties)
          } catch {
            // No plan of ours; the collector says so where somebody looks.
          }
        }
        return true
      }
    }
    return feed.current
  }
}
