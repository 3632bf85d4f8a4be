import Archive
import BusClient
import BusProtocol
import EventCodec
import EventModel
import Primitives
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// One run of `archive forget`: `$forget` to the bus, then looking at the archive's records and at the
/// sinks' cursors until it is done.
struct ArchiveForget {
  /// How long the other sinks are waited for once the archive is through.
  private static let sinksNanoseconds: Int64 = 3_000_000_000
  /// How long `--status` waits for the bus.
  private static let statusTimeout = Duration.seconds(3)

  private let settings: ArchiveForgetSettings
  private let context: Commands.Context

  init(_ settings: ArchiveForgetSettings, _ context: Commands.Context) {
    self.settings = settings
    self.context = context
  }

  func run() throws -> ExitCode {
    // Before anything is published: a slip of the pen must not look like an archive without records.
    let earlier = try records()
    if settings.asksOnly { return try showStatus(earlier) }
    if let code = try confirm() { return code }
    let (head, journal) = try Administration.ask(context.arguments) {
      bus throws(BusClientError) in
      let status = try bus.status()
      return (status.number("head"), ForgetReceipt.Journal(status))
    }
    let payload = try publish()
    let place = try find(payload, from: head)
    var receipt = ForgetReceipt(place, journal: journal)
    wait(for: &receipt)
    receipt.show(settings)
    if let code = context.interruption.code { return code }
    return receipt.isErased ? .done : .failed
  }

  private func records() throws -> [Erasure] {
    try CommandFailure.translating { () throws(ArchiveError) in
      try ErasureRecords.read(settings.directory, ids: settings.ids)
    }
  }

  private func showStatus(_ records: [Erasure]) throws -> ExitCode {
    if records.isEmpty {
      throw CommandFailure(.failed, "\(settings.directory) has no request to forget this id")
    }
    let bus = askAboutSinks()
    var last: ForgetReceipt?
    for place in Set(records.map(\.place)).sorted() {
      let own = records.filter { $0.place == place }
      var receipt = ForgetReceipt(
        ForgetReceipt.Place(position: place, time: own[0].time), journal: bus?.journal)
      receipt.take(own)
      receipt.sinks = bus?.consumers.map { ForgetReceipt.Sink($0, place) } ?? []
      receipt.show(settings)
      last = receipt
    }
    return last?.isErased == true ? .done : .failed
  }

  /// Nil, and said, when the bus does not answer soon: the archive's own records are shown all the same.
  private func askAboutSinks() -> (journal: ForgetReceipt.Journal, consumers: [ControlMap])? {
    do {
      return try Administration.ask(
        context.arguments, within: min(settings.timeout, Self.statusTimeout)
      ) {
        bus throws(BusClientError) in
        (ForgetReceipt.Journal(try bus.status()), try bus.consumers())
      }
    } catch {
      let reason = (error as? CommandFailure)?.text ?? "\(error)"
      Terminal.error(
        "eventbus archive forget: \(reason) Other sinks and the journal are not shown.")
      return nil
    }
  }

  /// The exit code when a signal was the answer; nothing but yes lets it go on.
  private func confirm() throws -> ExitCode? {
    if settings.isConfirmed { return nil }
    guard isatty(0) == 1 else {
      throw UsageError("--yes is needed where nobody can be asked: what is erased is gone")
    }
    let ids = settings.ids.map { "'\(TerminalText.escape($0))'" }.joined(separator: " and ")
    Terminal.error(
      "Every sink of \(settings.bus) erases all about \(ids), not about other ids that identify or "
        + "alias joined. Type yes to go on:")
    let isConfirmed = try answer() == "yes"
    if let code = context.interruption.code {
      Terminal.error("eventbus archive forget: nothing was erased")
      return code
    }
    guard isConfirmed else { throw CommandFailure(.failed, "nothing was erased") }
    return nil
  }

  /// The line that is typed; nil at the end of the input, or when the end of the command is asked for.
  private func answer() throws -> String? {
    let input = try InputFile(nil, interruption: context.interruption)
    var line: [UInt8] = []
    while !context.interruption.isRequested, let chunk = try input.read() {
      line += chunk.prefix { $0 != UInt8(ascii: "\n") }
      if chunk.contains(UInt8(ascii: "\n")) { return String(decoding: line, as: UTF8.self) }
    }
    return nil
  }

  /// Publishes the request; returns once it is on the bus's disk.
  private func publish() throws -> [UInt8] {
    var configuration = ProducerConfiguration(
      address: settings.bus, client: "eventbus archive forget")
    configuration.mayForget = true
    let notes = PublishNotes()
    configuration.onRefused = { notes.refused($0) }
    let producer = try Producer(configuration)
    let now = Timestamp(nanoseconds: SystemClock.realtime())
    var ids = UUIDv7Generator()
    let payload = settings.request.payload(messageId: ids.next(at: now), at: now)
    try producer.publish(payload: payload, name: EventName.forget)
    let result = producer.closeBlocking(deadline: settings.timeout)
    if result.refused > 0 { throw CommandFailure(.failed, "the bus refused the request") }
    guard result.acknowledged == 1 else {
      throw CommandFailure(
        .eventsUnaccounted,
        "the bus has not acknowledged the request: ask with --status before you repeat it")
    }
    return payload
  }

  /// Where the journal has it.
  private func find(_ payload: [UInt8], from head: UInt64) throws -> ForgetReceipt.Place {
    var place: ForgetReceipt.Place?
    _ = try Administration.ask(context.arguments) { bus throws(BusClientError) in
      try bus.fetch(from: .offset(head), filters: [NameFilter(.exact, EventName.forget)]) {
        batch throws(BusClientError) in
        for event in batch.events where event.payload == payload {
          place = ForgetReceipt.Place(position: event.position, time: event.time)
        }
        return place == nil
      }
    }
    guard let place else {
      throw CommandFailure(
        .eventsUnaccounted, "the bus took the request and does not show it: ask with --status")
    }
    return place
  }

  /// Looks until the archive is through, and a little longer for the other sinks.
  private func wait(for receipt: inout ForgetReceipt) {
    let end = SystemClock.monotonic() + settings.timeout.nanoseconds
    var sinksEnd: Int64?
    while !context.interruption.isRequested {
      do {
        receipt.take(try records())
        receipt.sinks = try Administration.ask(context.arguments) { bus throws(BusClientError) in
          try bus.consumers()
        }.map { ForgetReceipt.Sink($0, receipt.place.position) }
      } catch {
        // A moment without the bus or the catalogue; the receipt has what was seen before.
      }
      let now = SystemClock.monotonic()
      if receipt.isErased, sinksEnd == nil { sinksEnd = now + Self.sinksNanoseconds }
      if receipt.isErased, receipt.sinks.allSatisfy({ $0.hasPassed || !$0.isConnected }) { return }
      if now >= min(end, sinksEnd ?? end) { return }
      context.interruption.wait(milliseconds: 100)
    }
  }
}
