import BusProtocol
import Destinations
import Primitives
import ServiceRuntime
import SinkState

/// What a publisher says about itself as JSON: `/status`, and in its state file.
enum PublisherStatus {
  static func json(_ status: DeliveryStatus) -> JSONText {
    .object([
      .init("service", "publisher"), .init("destination", .text(status.name)),
      .init("route", .text(status.route)), .init("state", .text(status.state.word)),
      .init("reason", text(status.state.reason)),
      .init("nextTrySeconds", seconds(status.nextTry)),
      .init("waitingEvents", number(status.waitingEvents)),
      .init("waitingBytes", number(status.waitingBytes)),
      .init("oldestWaiting", text(status.oldestWaiting?.text)),
      .init("oldestWaitingSeconds", seconds(status.oldestAge(at: Timestamp.now()))),
      .init("lag", number(status.lag)), .init("heldUsers", number(status.heldUsers)),
      .init("requestsUnderWay", number(status.requestsUnderWay)),
      .init("eventsPerSecond", .double(status.rate)),
      .init("lastError", text(status.lastError)),
      .init("lastErrorAt", text(status.lastErrorAt?.text)),
      .init("busConnected", .boolean(status.isConnected)),
      .init("bus", BusLinkHealth.json(status.link)),
      .init("deadLetters", letters(status.letters)),
      .init("sinceStart", counts(status.counts)),
      .init("ledger", status.progress.map(ledger) ?? .null),
    ])
  }

  static func letters(_ totals: DeadLetters.Totals) -> JSONText {
    .object([
      .init("count", number(totals.count)), .init("bytes", number(totals.bytes)),
      .init("queued", number(totals.queued)), .init("dropped", number(totals.dropped)),
    ])
  }

  static func counts(_ counts: DeliveryCounts) -> JSONText {
    .object([
      .init("requests", number(counts.requests)), .init("retries", number(counts.retries)),
      .init("splits", number(counts.splits)), .init("unanswered", number(counts.unanswered)),
      .init("holds", number(counts.holds)), .init("delivered", number(counts.delivered)),
      .init("unproven", number(counts.unproven)), .init("skipped", number(counts.skipped)),
      .init("forgotten", number(counts.forgotten)),
      .init("refusedBeforeSending", number(counts.refusedBefore)),
      .init("refusedByDestination", number(counts.refusedByDestination)),
      .init("failingAlone", number(counts.failing)), .init("redriven", number(counts.redriven)),
    ])
  }

  /// Since the destination's beginning; the counts add up to cursor - start + rewound.
  static func ledger(_ progress: SinkProgress) -> JSONText {
    let ledger = progress.ledger
    return .object([
      .init("start", number(ledger.start.offset)), .init("cursor", number(progress.cursor.offset)),
      .init("epoch", number(progress.cursor.epoch)), .init("applied", number(ledger.applied)),
      .init("duplicate", number(ledger.duplicate)), .init("refused", number(ledger.refused)),
      .init("dead", number(ledger.dead)), .init("forgotten", number(ledger.forgotten)),
      .init("notMatched", number(ledger.notMatched)), .init("missing", number(ledger.missing)),
      .init("skipped", number(ledger.skipped)), .init("rewound", number(ledger.rewound)),
      .init("balanced", .boolean(ledger.isBalanced(at: progress.cursor))),
    ])
  }

  private static func number(_ value: some BinaryInteger) -> JSONText {
    .integer(Int64(clamping: value))
  }

  private static func text(_ value: String?) -> JSONText { value.map { .text($0) } ?? .null }

  private static func seconds(_ value: Duration?) -> JSONText {
    value.map { .double(Double($0.nanoseconds / 1_000_000) / 1000) } ?? .null
  }
}
