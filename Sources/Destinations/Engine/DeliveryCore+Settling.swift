internal import BusProtocol
internal import SinkState

/// What is settled leaves the backlog in journal order, and is counted then: so ledger and cursor agree.
extension DeliveryCore {
  /// Whether `takeSettlement` has something.
  public var hasSettled: Bool { !settlement.isEmpty || backlog.isFrontSettled }

  /// What is to be stored next, in one transaction; nil when there is nothing.
  public mutating func takeSettlement() -> Settlement? {
    collect()
    guard !settlement.isEmpty else { return nil }
    var taken = Settlement()
    swap(&taken, &settlement)
    taken.progress = progress
    return taken
  }

  mutating func collect() {
    while let entry = backlog.popSettled() {
      settlement.count += 1
      switch entry {
      case .event(let slot):
        guard let outcome = slot.outcome else { continue }
        if let letter = slot.event.letter {
          redriven(letter, outcome)
        } else {
          count(outcome, slot.event)
        }
      case .forget(let mark):
        progress.ledger.applied += 1
        progress.advance(to: Position(epoch: mark.place.epoch, offset: mark.place.offset + 1))
      case .reached(let end): progress.advance(to: end)
      case .gap(let end): progress.jump(to: end, .gap)
      }
    }
  }

  private mutating func count(_ outcome: DeliveryOutcome, _ event: DeliveryEvent) {
    switch outcome {
    case .delivered, .unproven: progress.ledger.applied += 1
    case .skipped: progress.ledger.notMatched += 1
    case .forgotten: progress.ledger.forgotten += 1
    case .dead(let refusal):
      progress.ledger.dead += 1
      settlement.letters.append((event, refusal))
    }
    if let place = event.source.position {
      progress.advance(to: Position(epoch: place.epoch, offset: place.offset + 1))
    }
  }

  /// It was counted as dead when it became a dead letter, unless the ledger began after that: then it has
  /// none of it to count anew.
  private mutating func redriven(_ letter: Int64, _ outcome: DeliveryOutcome) {
    letters.remove(letter)
    settlement.redriven.append((letter, outcome))
    if case .delivered = outcome { counts.redriven += 1 }
    if case .unproven = outcome { counts.redriven += 1 }
    guard progress.ledger.dead > 0 else { return }
    switch outcome {
    case .delivered, .unproven: progress.ledger.applied += 1
    case .forgotten: progress.ledger.forgotten += 1
    case .skipped: progress.ledger.notMatched += 1
    case .dead: return
    }
    progress.ledger.dead -= 1
  }

  /// Erases what waits of these people. What is under way cannot be called back; it is not sent again.
  mutating func forget(_ mark: ForgetMark) {
    var found: [Backlog.Number] = []
    let key = peopleKey
    backlog.forEachKept { number, event in
      if unsafe mark.concerns(event.payload.span.bytes, key: key) { found.append(number) }
    }
    let sent = Set(lanes.flatMap { $0.current?.members ?? [] })
    for number in found {
      if sent.contains(number) {
        backlog.change(number) { $0.isForgotten = true }
      } else {
        backlog.erase(number)
        counts.forgotten += 1
      }
    }
    backlog.append(.forget(mark))
    // Stored at once, not when the cursor passes it: after a crash the events before it, read anew, are
    // known to be left out before any is sent.
    settlement.forgets.append(mark)
    settlement.count += 1
  }

  /// Gives an event its outcome and counts it.
  mutating func settle(_ number: Backlog.Number, _ outcome: DeliveryOutcome) {
    backlog.settle(number, outcome)
    count(outcome)
  }

  mutating func count(_ outcome: DeliveryOutcome) {
    switch outcome {
    case .delivered: counts.delivered += 1
    case .unproven:
      counts.delivered += 1
      counts.unproven += 1
    case .skipped: counts.skipped += 1
    case .forgotten: counts.forgotten += 1
    case .dead(let refusal):
      switch refusal.origin {
      case .validation: counts.refusedBefore += 1
      case .destination: counts.refusedByDestination += 1
      case .failing: counts.failing += 1
      }
    }
  }
}
