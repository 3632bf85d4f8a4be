internal import BusProtocol
internal import Primitives
internal import SinkState

// Each sink must account for every event from its start to its cursor, and agree with the broker on where
// that is.
extension Doctor {
  static func sinks(_ facts: DoctorFacts) -> [DoctorCheck] {
    facts.sinks.flatMap { sink in
      [
        ledger(sink, facts), cursor(sink, facts), delivery(sink, facts), letters(sink),
        lag(sink, facts),
      ]
      .compactMap { $0 }
    }
  }

  private static func ledger(_ sink: DoctorFacts.Sink, _ facts: DoctorFacts) -> DoctorCheck {
    let name = "ledger \(sink.name)"
    guard sink.trouble.isEmpty else {
      return DoctorCheck(
        name, .failed, "\(sink.file): \(sink.trouble)", advice: "see the log of \(sink.name)")
    }
    guard let progress = sink.progress else {
      return DoctorCheck(name, .note, "has stored nothing yet")
    }
    let ledger = progress.ledger
    let parts: [(String, UInt64)] = [
      ("applied", ledger.applied), ("duplicate", ledger.duplicate), ("refused", ledger.refused),
      ("dead", ledger.dead), ("forgotten", ledger.forgotten), ("not matched", ledger.notMatched),
      ("skipped by a seek", ledger.skipped), ("missing", ledger.missing),
    ]
    let passed = ledger.passed(to: progress.cursor)
    let sum = parts.filter { $0.1 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: " + ")
    let again = ledger.rewound > 0 ? " + \(ledger.rewound) passed again" : ""
    let equation =
      "\(sum.isEmpty ? "0" : sum) = cursor \(progress.cursor.offset) - start "
      + "\(ledger.start.offset)\(again)"
    guard ledger.isBalanced(at: progress.cursor) else {
      let difference =
        passed > ledger.accounted
        ? (passed - ledger.accounted).counted(
          "event is unaccounted for", "events are unaccounted for")
        : (ledger.accounted - passed).counted(
          "event is counted too often", "events are counted too often")
      return DoctorCheck(
        name, .unaccounted,
        "\(difference): \(sum), cursor \(progress.cursor.offset), start "
          + "\(ledger.start.offset)\(again)",
        advice: "keep \(sink.file) and the log of \(sink.name), and report it")
    }
    guard ledger.missing == 0 else {
      return DoctorCheck(
        name, .unaccounted,
        ledger.missing.counted("event was gone", "events were gone")
          + " before it read that far: \(equation)",
        advice: "retention (--drop-unread) or damage took them; from an archive they can be sent "
          + "again: `eventbus archive replay --to \(sink.name)`")
    }
    return DoctorCheck(name, .ok, equation)
  }

  private static func cursor(_ sink: DoctorFacts.Sink, _ facts: DoctorFacts) -> DoctorCheck? {
    guard let progress = sink.progress else { return nil }
    let name = "cursor \(sink.name)"
    let cursor = progress.cursor
    guard let head = head(facts) else {
      return DoctorCheck(name, .skipped, "neither the broker nor its journal is at hand")
    }
    if cursor.epoch > head.epoch || (cursor.epoch == head.epoch && cursor.offset > head.offset) {
      return DoctorCheck(
        name, .unaccounted,
        "is at offset \(cursor.offset) of epoch \(cursor.epoch), the journal's head is "
          + "\(head.offset) of epoch \(head.epoch)",
        advice:
          "the journal is older than what this sink has read: restore the right one, or stop the "
          + "broker, remove `origin.mark` from its directory and start it: a new epoch begins")
    }
    guard case .answered(let status) = facts.broker else {
      return DoctorCheck(
        name, .ok,
        "\(cursor.offset), \(head.offset - min(head.offset, cursor.offset)) behind the "
          + "journal's head; the broker does not answer")
    }
    guard let known = consumer(sink.name, status) else {
      return DoctorCheck(
        name, .note, "the broker knows no subscriber '\(sink.name)'",
        advice: "it goes on at its own cursor, \(cursor.offset), when it is started")
    }
    let there = Position(
      epoch: UInt32(clamping: known.number("epoch")), offset: known.number("cursor"))
    // Where an epoch begins, the broker counts a cursor to it, and a sink to the one that ended there.
    if there.offset == cursor.offset, there.epoch >= cursor.epoch {
      return DoctorCheck(name, .ok, "\(cursor.offset), as the broker has it")
    }
    if known.number("generation") > progress.seekGeneration {
      return DoctorCheck(
        name, .note, "an operator moved it to \(there.offset); the sink is at \(cursor.offset)",
        advice: "it follows when it is connected")
    }
    // Sinks store their own first and the broker's after it; and the broker was asked first.
    if there < cursor {
      return DoctorCheck(
        name, .ok,
        "\(cursor.offset), the broker's is \(cursor.offset - min(cursor.offset, there.offset)) behind, as while it works"
      )
    }
    return DoctorCheck(
      name, .unaccounted, "is at \(cursor.offset), but told the broker \(there.offset)",
      advice: "its state was set back (a restored backup?): what lies between may be gone by "
        + "retention soon; start it now, it goes on at its own cursor")
  }

  /// Where the journal ends: as the broker says, else as its files do. Asked after the sinks.
  private static func head(_ facts: DoctorFacts) -> Position? {
    if let head = facts.headAfter { return head }
    if case .answered(let status) = facts.broker {
      return Position(
        epoch: UInt32(clamping: status.number("epoch")), offset: status.number("head"))
    }
    guard case .read(let journal) = facts.journal, journal.damages.isEmpty else { return nil }
    return Position(epoch: UInt32(clamping: journal.epoch), offset: journal.head)
  }

  private static func letters(_ sink: DoctorFacts.Sink) -> DoctorCheck? {
    guard sink.letters > 0 || sink.lettersDropped > 0 else { return nil }
    let name = "dead letters \(sink.name)"
    if sink.lettersDropped > 0 {
      return DoctorCheck(
        name, .unaccounted,
        sink.lettersDropped.counted("dead letter was", "dead letters were")
          + " dropped at their bound",
        advice: "raise the bound, and look at the rest: `eventbus deadletters list --destination "
          + "\(sink.name)`")
    }
    return DoctorCheck(
      name, .note, sink.letters.counted("dead letter"),
      advice: "`eventbus deadletters list --destination \(sink.name)`, then edit, redrive or drop")
  }

  private static func lag(_ sink: DoctorFacts.Sink, _ facts: DoctorFacts) -> DoctorCheck? {
    guard case .answered(let status) = facts.broker, let known = consumer(sink.name, status) else {
      return nil
    }
    return lag(known, sink.delivery, facts)
  }

  private static func lag(
    _ known: ControlMap, _ delivery: DoctorFacts.Delivery?, _ facts: DoctorFacts
  ) -> DoctorCheck {
    let name = "lag \(known.text("name"))"
    let lag = known.number("lag")
    let missed = known.number("missed")
    if missed > 0 {
      return DoctorCheck(
        name, .unaccounted,
        missed.counted("event was gone", "events were gone") + " before it read that far",
        advice: "it was away too long for the broker's retention: see --keep-unread-bytes")
    }
    if known.flag("paused") {
      return DoctorCheck(
        name, .note, "paused, \(lag) behind",
        advice: "`eventbus consumers resume '\(known.text("name"))'`")
    }
    guard known.flag("connected") else {
      return DoctorCheck(
        name, lag > 0 ? .failed : .note, "away, \(lag) behind",
        advice: "start it, or if it is no longer used, for it holds the journal: "
          + retiring(known.text("name"), delivery?.folder))
    }
    guard lag > facts.maximumLag else { return DoctorCheck(name, .ok, "\(lag) behind") }
    let service = facts.services.first { $0.name == known.text("name") && $0.answer == .ready }
    if let unread = service?.unread, unread <= facts.maximumLag {
      return DoctorCheck(
        name, .ok,
        "\(unread) behind; it has read \(lag - min(lag, unread)) more and commits them soon")
    }
    if let delivery, delivery.isHeldUp {
      return DoctorCheck(
        name, .failed, "\(lag) behind: \(delivery.state), \(delivery.reason)",
        advice: "its events wait for the destination: see destination \(known.text("name"))")
    }
    return DoctorCheck(
      name, .failed, "\(lag) behind", advice: "it is too slow or stuck: see its log and CPU")
  }

  /// Subscribers of the broker that have no state in this data directory: programs of the user's, or
  /// services with another directory.
  static func strangers(_ facts: DoctorFacts) -> [DoctorCheck] {
    guard case .answered(let status) = facts.broker else { return [] }
    let known = Set(facts.sinks.map { Array($0.name.utf8) })
    var checks: [DoctorCheck] = []
    for case .map(let consumer) in status.list("consumers")
    where !known.contains(Array(consumer.text("name").utf8)) {
      checks.append(lag(consumer, nil, facts))
    }
    return checks
  }

  private static func consumer(_ name: String, _ status: ControlMap) -> ControlMap? {
    for case .map(let consumer) in status.list("consumers")
    where consumer.text("name").utf8.elementsEqual(name.utf8) {
      return consumer
    }
    return nil
  }
}
