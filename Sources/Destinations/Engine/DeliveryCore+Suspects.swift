internal import Primitives

/// A request that fails by the server's own answer (5xx), or gets none: the destination may be down, or
/// one of the events may bring it down.
///
/// As long as it may be the destination, the same request is made again and again. After `suspectTries`
/// and `suspectAfter` it is halved; an event that fails alone is set aside with all that its user has
/// behind it, and tried alone from time to time, while the others go on. Only the time counts against it
/// during which others got through. When nothing gets through after a few events were set aside, it is
/// the destination, and no more are.
extension DeliveryCore {
  /// Events set aside before it must be the destination.
  static let mostSuspects = 4

  mutating func failed(
    _ cut: Lane.Cut, _ reason: String, _ index: Int, _ answer: DeliveryAnswer, at now: Int64
  ) {
    note(reason, at: now)
    var cut = cut
    cut.members = dropForgotten(cut.members)
    guard let first = cut.members.first else { return freeUsers(cut, index, at: now) }
    if let hold = lanes[index].held[backlog.key(first)], hold.suspect == first {
      return failedAlone(first, reason, index, answer, at: now)
    }
    let wait = lanes[index].backoff.next(using: &random)
    lanes[index].notBefore = now + wait
    lanes[index].failure = reason
    actions.append(.report(.retrying(reason, wait: .nanoseconds(wait))))
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
    } else if cut.isSuspect, suspectsSinceDelivery < Self.mostSuspects {
      setAside(first, reason, index, at: now)
    } else {
      lanes[index].planned.insert(cut, at: 0)
    }
  }

  /// From now on it is tried alone, and its user's later events wait behind it.
  private mutating func setAside(
    _ number: Backlog.Number, _ reason: String, _ index: Int, at now: Int64
  ) {
    suspectsSinceDelivery += 1
    let key = backlog.key(number)
    var hold = Lane.Hold(until: 0, backoff: newBackoff)
    hold.suspect = number
    hold.until = now + hold.backoff.next(using: &random)
    hold.events = lanes[index].withdraw { [backlog] in backlog.key($0) == key }
    lanes[index].held[key] = hold
    backlog.change(number) { $0.lastLoneTry = now }
    actions.append(.report(.suspecting(reason)))
  }

  private mutating func failedAlone(
    _ number: Backlog.Number, _ reason: String, _ index: Int, _ answer: DeliveryAnswer,
    at now: Int64
  ) {
    let key = backlog.key(number)
    let lastDelivery = lastDelivery
    var failedFor: Int64 = 0
    backlog.change(number) { slot in
      if let last = slot.lastLoneTry, let lastDelivery, lastDelivery > last {
        slot.failedAlone += now - last
      }
      slot.lastLoneTry = now
      failedFor = slot.failedAlone
    }
    guard failedFor < configuration.loneFailureLimit.nanoseconds else {
      let tries = backlog.slot(number)?.tries ?? 0
      let refusal = Refusal(
        .failing, reason, status: answer.status, answer: answer.text, tries: tries)
      settle(number, .dead(refusal))
      actions.append(.report(.refused(1, reason)))
      return release(key, index, at: now)
    }
    lanes[index].held[key]?.isBeingTried = false
    let wait = lanes[index].held[key]?.backoff.next(using: &random) ?? 0
    lanes[index].held[key]?.until = now + wait
  }

  /// Users whose suspect is settled may go on with their other events.
  mutating func freeUsers(_ cut: Lane.Cut, _ index: Int, at now: Int64) {
    guard cut.isSuspect else { return }
    let free = lanes[index].held.filter { $0.value.suspect.map { !backlog.isWaiting($0) } ?? false }
    for key in free.keys { release(key, index, at: now) }
  }

  private var newBackoff: StepBackoff {
    StepBackoff(base: configuration.retryBase, limit: configuration.retryLimit)
  }
}
