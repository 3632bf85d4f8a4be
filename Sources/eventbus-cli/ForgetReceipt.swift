import Archive
import BusProtocol
import EventModel
import Primitives
import ServiceRuntime

/// What became of a request to forget, without the id.
struct ForgetReceipt {
  struct Place {
    var position: Position
    /// Journal time, nanoseconds since 1970.
    var time: Int64
  }

  /// What the broker says about its journal.
  struct Journal {
    /// How long what all have read is kept.
    var retentionSeconds: UInt64
    var earliest: Position

    init(_ status: ControlMap) {
      retentionSeconds = status.number("retentionSeconds")
      earliest = Position(
        epoch: UInt32(clamping: status.number("epoch")), offset: status.number("earliest"))
    }
  }

  /// A named subscriber, and whether it has the request behind it.
  struct Sink {
    var name: String
    var hasPassed: Bool
    var isConnected: Bool
    /// Its filters let the request through; else it passes by unseen.
    var isTold: Bool

    init(_ consumer: ControlMap, _ place: Position) {
      name = consumer.text("name")
      let cursor = Position(
        epoch: UInt32(clamping: consumer.number("epoch")), offset: consumer.number("cursor"))
      hasPassed = cursor > place
      isConnected = consumer.flag("connected")
      isTold = Self.takesForget(consumer["filters"])
    }

    private static func takesForget(_ filters: ControlValue?) -> Bool {
      guard case .list(let filters)? = filters, !filters.isEmpty else { return true }
      return filters.contains { filter in
        guard case .list(let parts) = filter, parts.count == 2, case .text(let kind) = parts[0],
          case .text(let text) = parts[1]
        else { return false }
        let bytes = Array(text.utf8)
        let pattern: EventPattern =
          switch NameFilter.Kind(rawValue: kind) {
          case .prefix: EventPattern(prefix: bytes)
          case .glob: EventPattern(glob: bytes)
          case .exact, nil: EventPattern(exact: bytes)
          }
        return pattern.matches(EventName.forget)
      }
    }
  }

  let place: Place
  /// Nil when the broker did not answer.
  var journal: Journal?
  var sinks: [Sink] = []
  private var records: [Erasure] = []

  init(_ place: Place, journal: Journal?) {
    self.place = place
    self.journal = journal
  }

  /// Takes of the archive's records those of this request.
  mutating func take(_ found: [Erasure]) {
    records = found.filter { $0.place == place.position }
  }

  /// The archive holds nothing of the person from before the request.
  var isErased: Bool { !records.isEmpty && records.allSatisfy { $0.finished != nil } }

  private var events: UInt64 { records.reduce(0) { $0 + $1.events } }
  private var parts: UInt64 { records.reduce(0) { $0 + $1.parts } }
  private var erasedAt: Int64? { records.compactMap(\.finished).max() }

  /// When the last segment of the journal that held the person is gone: it ended with the request.
  private var journalDate: String? {
    journal.flatMap { journal in
      // A retention of centuries is no date.
      let age = Int64(min(journal.retentionSeconds, 9_000_000_000)) * 1_000_000_000
      let (time, overflow) = place.time.addingReportingOverflow(age)
      return overflow ? nil : Timestamp(nanoseconds: time).text
    }
  }

  /// The segment with the request is gone, and so are all before it.
  private var hasLeftJournal: Bool {
    guard let earliest = journal?.earliest, earliest.epoch == place.position.epoch else {
      return false
    }
    return earliest > place.position
  }

  func show(_ settings: ArchiveForgetSettings) {
    if settings.json { return Terminal.output("\(json)\n") }
    var lines = [
      "request    offset \(place.position.offset) of epoch \(place.position.epoch), "
        + Timestamp(nanoseconds: place.time).text,
      isErased
        ? "archive    \(events.counted("event")) erased, \(parts.counted("part")) written anew or removed"
        : "archive    not done yet: it goes on while `eventbus archiver` runs; ask with --status",
    ]
    for sink in sinks {
      let state =
        sink.hasPassed
        ? (sink.isTold ? "has passed it" : "was not told: its --events leave $forget out")
        : "has not passed it yet" + (sink.isConnected ? "" : ", and is away")
      lines.append("sink       \(TerminalText.escape(sink.name)) \(state)")
    }
    if hasLeftJournal {
      lines.append("journal    holds nothing of the person any more")
    } else if let journalDate {
      lines.append("journal    holds nothing of the person from \(journalDate) on")
    }
    Terminal.output(lines.map { $0 + "\n" }.joined())
  }

  private var json: JSONText {
    var members: [JSONText.Member] = [
      .init("offset", .integer(Int64(clamping: place.position.offset))),
      .init("epoch", .integer(Int64(place.position.epoch))),
      .init("time", .text(Timestamp(nanoseconds: place.time).text)),
      .init("erased", .boolean(isErased)),
      .init("events", .integer(Int64(clamping: events))),
      .init("parts", .integer(Int64(clamping: parts))),
      .init("erasedAt", erasedAt.map { .text(Timestamp(nanoseconds: $0).text) } ?? .null),
      .init(
        "sinks",
        .list(
          sinks.map { sink in
            [
              "name": .text(sink.name), "passed": .boolean(sink.hasPassed),
              "told": .boolean(sink.isTold), "connected": .boolean(sink.isConnected),
            ]
          })),
    ]
    if let journalDate { members.append(.init("journalUntil", .text(journalDate))) }
    if journal != nil { members.append(.init("journalErased", .boolean(hasLeftJournal))) }
    return .object(members)
  }
}
