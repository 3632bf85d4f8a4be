internal import Primitives

/// A request that fails by the server's own answer (5xx), or gets none: the destination may be down, or
/// one of the events may bring it down.
///
/// As long as it may be the destination, the same request is made again and again. After `suspectTries`
/// and `suspectAfter` it is halved; an event that fails alone is set aside with all that its user has
/// behind it, and tried alone from time to time, in turns with the others. It becomes a dead letter once
/// it has failed for `loneFailureLimit` while others got through; or sooner, when everything that may
/// wait here waits because of such events.
///
/// Where nothing waits but events of its own user, nobody else can show whether it is the destination.
/// After `loneFailureLimit` that user's next event is sent as a probe: only if it gets through, and the
/// suspect then fails once more, is the suspect dead. While the probe fails too, both wait on.
extension DeliveryCore {
  mutating func failed(
    _ cut: Lane.Cut, _ reason: String, _ index: Int, _ answer: DeliveryAnswer, at now: Int64
  ) {
    note(reason, at: now)
    var cut = cut
    cut.members = dropForgotten(cut.members)
    if cut.isLone, let number = cut.members.first {
      return lanes[index].held[backlog.key(number)]?.suspect == number
        ? failedAlone(number, reason, index, answer, at: now)
        : probeFailed(number, reason, index, at: now)
    }
    backOff(index, reason, at: now)
    cut.tries += 1
    cut.failingSince = cut.failingSince ?? now
    if cut.tries >= configuration.suspectTries,
      now - (cut.failingSince ?? now) >= configuration.suspectAfter.nanoseconds
    {
      cut.isSuspect = true
    }
    if cut.isSuspect, cut.members.count > 1 {
      counts.splits += 1
      halve(cut, index)
    } else if cut.isSuspect, let first = cut.members.first {
      setAside(first, reason, index, at: now)
    } else {
      putBack(cut, index, at: now)
    }
  }

  private mutating func backOff(_ index: Int, _ reason: String, at now: Int64) {
    let wait = lanes[index].backoff.next(using: &random)
    lanes[index].notBefore = now + wait
    lanes[index].failure = reason
    actions.append(.report(.retrying(reason, wait: .nanoseconds(wait))))
  }

  /// Where it came from, so that it is next.
  mutating func putBack(_ cut: Lane.Cut, _ index: Int, at now: Int64) {
    guard let first = cut.members.first else { return freeUsers(cut, index, at: now) }
    let key = backlog.key(first)
    if cut.isLone {
      lanes[index].held[key]?.isBeingTried = false
      lanes[index].held[key]?.until = now
    } else {
      lanes[index].planned.insert(cut, at: 0)
    }
  }

  /// From now on it is tried alone, and its user's later events wait behind it.
  private mutating func setAside(
    _ number: Backlog.Number, _ reason: String, _ index: Int, at now: Int64
  ) {
    let key = backlog.key(number)
    var hold = Lane.Hold(until: 0, backoff: newBackoff)
    hold.suspect = number
    hold.until = now + hold.backoff.next(using: &random)
    hold.events = lanes[index].withdraw { [backlog] in backlog.key($0) == key }
    hold.trial.since = now
    hold.trial.lastTry = now
    lanes[index].held[key] = hold
    lanes[index].lastWasLone = true
    actions.append(.report(.suspecting(reason)))
  }

  /// The suspect whose time has come first.
  mutating func nextLone(_ index: Int, at now: Int64) -> Lane.Cut? {
    guard lanes[index].nextLoneTry <= now else { return nil }
    let due = lanes[index].held.filter {
      $0.value.suspect != nil && !$0.value.isBeingTried && $0.value.until <= now
    }
    for (key, hold) in due.sorted(by: { $0.value.until < $1.value.until }) {
      guard let suspect = hold.suspect, backlog.isWaiting(suspect) else {
        // It was erased while it waited.
        release(key, index, at: now)
        continue
      }
      lanes[index].held[key]?.isBeingTried = true
      lanes[index].lastWasLone = true
      let probe =
        hold.trial.wantsProbe ? hold.events.first { backlog.isWaiting($0) } : nil
      return Lane.Cut(members: [probe ?? suspect], isLone: true)
    }
    return nil
  }

  private mutating func failedAlone(
    _ number: Backlog.Number, _ reason: String, _ index: Int, _ answer: DeliveryAnswer,
    at now: Int64
  ) {
    let key = backlog.key(number)
    guard let slot = backlog.slot(number), var hold = lanes[index].held[key] else { return }
    let gotThrough = lastDelivery ?? .min
    let othersGotThrough = gotThrough >= hold.trial.lastTry
    if othersGotThrough { hold.trial.failedFor += now - hold.trial.lastTry }
    let isBlocking = !hasRoom && gotThrough > hold.trial.since && onlySuspectsWait
    hold.trial.blockingSince = isBlocking ? hold.trial.blockingSince ?? now : nil
    if isDead(hold.trial, at: now) {
      let refusal = Refusal(
        .failing, reason, status: answer.status, answer: answer.text, tries: slot.tries)
      settle(number, .dead(refusal))
      actions.append(.report(.refused(1, reason)))
      return release(key, index, at: now)
    }
    hold.trial.lastTry = now
    hold.trial.probeGotThrough = false
    hold.isBeingTried = false
    hold.trial.wantsProbe =
      answer.status > 0 && isOverdue(hold.trial, at: now) && !hold.events.isEmpty && isAlone(key)
    // At once: the less time between the two, the more it means when only one of them gets through.
    hold.until = hold.trial.wantsProbe ? now : now + hold.backoff.next(using: &random)
    lanes[index].held[key] = hold
    // Nothing else got through either: for all that is known it is the destination.
    if !othersGotThrough, !hold.trial.wantsProbe { backOff(index, reason, at: now) }
  }

  private func isDead(_ trial: Lane.Trial, at now: Int64) -> Bool {
    trial.failedFor >= configuration.loneFailureLimit.nanoseconds
      || trial.probeGotThrough && isOverdue(trial, at: now)
      || now - (trial.blockingSince ?? now) >= configuration.blockingLimit.nanoseconds
  }

  private func isOverdue(_ trial: Lane.Trial, at now: Int64) -> Bool {
    now - trial.since >= configuration.loneFailureLimit.nanoseconds
  }

  /// So it may well be the destination.
  private mutating func probeFailed(
    _ number: Backlog.Number, _ reason: String, _ index: Int, at now: Int64
  ) {
    let key = backlog.key(number)
    let wait = lanes[index].held[key]?.backoff.next(using: &random) ?? 0
    lanes[index].held[key]?.until = now + wait
    lanes[index].held[key]?.isBeingTried = false
    lanes[index].held[key]?.trial.wantsProbe = false
    backOff(index, reason, at: now)
  }

  /// Nothing waits but events of this user.
  private func isAlone(_ key: UInt64) -> Bool {
    lanes.allSatisfy { lane in
      !lane.hasWork && lane.current == nil && lane.held.keys.allSatisfy { $0 == key }
    }
  }

  /// Nothing waits but events of users with a suspect.
  private var onlySuspectsWait: Bool {
    lanes.allSatisfy { lane in
      !lane.hasWork && lane.current == nil && lane.held.values.allSatisfy { $0.suspect != nil }
    }
  }

  /// After a suspect or a probe is settled: a user without a suspect may go on with the other events;
  /// a suspect is tried again at once, now that something is known of the destination.
  mutating func freeUsers(_ cut: Lane.Cut, _ index: Int, at now: Int64) {
    guard cut.isLone else { return }
    let free = lanes[index].held.filter { $0.value.suspect.map { !backlog.isWaiting($0) } ?? false }
    for key in free.keys { release(key, index, at: now) }
    guard let probe = cut.members.first, !backlog.isWaiting(probe) else { return }
    let key = backlog.key(probe)
    guard var hold = lanes[index].held[key], hold.suspect != nil else { return }
    hold.events.removeAll { $0 == probe }
    hold.isBeingTried = false
    hold.until = now
    hold.trial.wantsProbe = false
    switch backlog.slot(probe)?.outcome {
    case .delivered, .unproven: hold.trial.probeGotThrough = true
    default: break
    }
    lanes[index].held[key] = hold
  }

  private var newBackoff: StepBackoff {
    StepBackoff(base: configuration.retryBase, limit: configuration.retryLimit)
  }
}
