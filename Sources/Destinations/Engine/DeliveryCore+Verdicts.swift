internal import Primitives

/// What answers mean.
extension DeliveryCore {
  /// Takes the verdict on a request, and the answer that dead letters keep.
  public mutating func finish(
    _ id: UInt64, _ verdict: DeliveryVerdict, _ answer: DeliveryAnswer, at now: Int64
  ) {
    guard let (index, cut) = takeCurrent(id) else { return }
    switch verdict {
    case .delivered: delivered(cut, .delivered, index, at: now)
    case .deliveredUnproven(let reason): deliveredUnproven(cut, reason, index, at: now)
    case .partial(let refused):
      refuse(refused, of: cut, answer)
      delivered(cut, .delivered, index, at: now)
    case .refusedOnly(let refused):
      guard refuse(refused, of: cut, answer) > 0 else {
        return refusedWhole(cut, answer.reason, index, answer, at: now, isBad: true)
      }
      gotThrough(cut, index)
      replan(cut.members, index)
      freeUsers(cut, index, at: now)
    case .split(let reason):
      refusedWhole(cut, reason, index, answer, at: now, isBad: true)
    case .tooLarge(let reason):
      learnBytes(cut, at: now)
      refusedWhole(cut, reason, index, answer, at: now, isBad: false)
    case .hold(let items, let time, let reason):
      hold(items, of: cut, for: time, reason, index, at: now)
    case .pause(let time, let reason):
      let wait = gate.pause(time?.nanoseconds, reason, at: now, using: &random)
      again(cut, reason, .pausing(reason, wait: .nanoseconds(wait)), index, at: now)
    case .retry(let reason):
      failed(cut, reason, index, answer, at: now)
    case .configuration(let reason):
      let wait = gate.misconfigure(
        reason, interval: configuration.probeInterval.nanoseconds, at: now, using: &random)
      again(cut, reason, .misconfigured(reason, wait: .nanoseconds(wait)), index, at: now)
    }
  }

  /// A request has no whole answer.
  ///
  /// - Parameters:
  ///   - isUnreachable: nothing can have arrived, so it says nothing about the events.
  ///   - isTaken: the answer began as a success. That it broke off may be an accident of the line, so the
  ///     next try may bring what it says of single events; from the third on it is taken for a delivery,
  ///     since a provider that never ends its answers right would else get doubles without end.
  public mutating func fail(
    _ id: UInt64, _ reason: String, isUnreachable: Bool, isTaken: Bool = false, at now: Int64
  ) {
    guard let (index, taken) = takeCurrent(id) else { return }
    var cut = taken
    counts.unanswered += 1
    guard isUnreachable else {
      cut.halfAnswers += isTaken ? 1 : 0
      if isTaken, cut.halfAnswers >= 3 { return deliveredUnproven(cut, reason, index, at: now) }
      return failed(cut, reason, index, DeliveryAnswer(reason: reason), at: now)
    }
    let wait = gate.fail(reason, at: now, using: &random)
    again(cut, reason, .retrying(reason, wait: .nanoseconds(wait)), index, at: now)
  }

  private mutating func takeCurrent(_ id: UInt64) -> (Int, Lane.Cut)? {
    guard let index = underWay.removeValue(forKey: id), let cut = lanes[index].current.take() else {
      return nil
    }
    return (index, cut)
  }

  /// All that are not refused are with the destination.
  private mutating func delivered(
    _ cut: Lane.Cut, _ outcome: DeliveryOutcome, _ index: Int, at now: Int64
  ) {
    for number in cut.members where backlog.isWaiting(number) { settle(number, outcome) }
    gotThrough(cut, index)
    lanes[index].caution.took(cut.members.count, limit: limits.events)
    lastDelivery = now
    if cut.pair > 0, lanes[index].planned.first?.pair == cut.pair {
      lanes[index].planned[0].holdsBad = true
    }
    freeUsers(cut, index, at: now)
  }

  private mutating func deliveredUnproven(
    _ cut: Lane.Cut, _ reason: String, _ index: Int, at now: Int64
  ) {
    note(reason, at: now)
    if counts.unproven == 0 { actions.append(.report(.unproven(reason))) }
    delivered(cut, .unproven, index, at: now)
  }

  /// The destination works: it answered about the events.
  private mutating func gotThrough(_ cut: Lane.Cut, _ index: Int) {
    let wasFailing = gate.state != .open || lanes[index].failure != nil
    gate.succeed(cut.gateRound)
    lanes[index].failure = nil
    lanes[index].notBefore = 0
    lanes[index].backoff.reset()
    if wasFailing, gate.state == .open { actions.append(.report(.recovered)) }
  }

  /// Makes dead letters of the listed ones; returns how many.
  @discardableResult
  private mutating func refuse(
    _ refused: [Int: String], of cut: Lane.Cut, _ answer: DeliveryAnswer
  ) -> Int {
    let listed = refused.filter { cut.members.indices.contains($0.key) }
    for (position, reason) in listed.sorted(by: { $0.key < $1.key }) {
      refuse(cut.members[position], reason, answer)
    }
    if let first = listed.min(by: { $0.key < $1.key }) {
      actions.append(.report(.refused(listed.count, CleanText.clean(first.value))))
    }
    return listed.count
  }

  private mutating func refuse(
    _ number: Backlog.Number, _ reason: String, _ answer: DeliveryAnswer
  ) {
    let tries = backlog.slot(number)?.tries ?? 0
    settle(
      number,
      .dead(
        Refusal(
          .destination, reason, status: answer.status, answer: answer.text, tries: tries)))
  }

  /// None was taken, and nobody says which is bad.
  private mutating func refusedWhole(
    _ cut: Lane.Cut, _ reason: String, _ index: Int, _ answer: DeliveryAnswer, at now: Int64,
    isBad: Bool
  ) {
    gotThrough(cut, index)
    let members = dropForgotten(cut.members)
    var cut = cut
    cut.members = members
    if members.count > 1 {
      counts.splits += 1
      actions.append(.report(.splitting(members.count, reason)))
      halve(cut, index, isBad: isBad)
    } else {
      for number in members { refuse(number, reason, answer) }
      if !members.isEmpty {
        lanes[index].caution.refusedAlone()
        actions.append(.report(.refused(members.count, reason)))
      }
      joinPlanned(index, at: now)
      freeUsers(cut, index, at: now)
    }
  }

  /// The bad one is found: what is left of the halves goes out together again, as far as it fits.
  private mutating func joinPlanned(_ index: Int, at now: Int64) {
    let most = requestBytes(at: now)
    var joined: [Backlog.Number] = []
    var size = limits.headBytes - limits.separatorBytes
    while let next = lanes[index].planned.first, next.tries == 0, !next.holdsBad, !next.isSuspect {
      let bytes = next.members.reduce(0) { $0 + weight($1) }
      guard joined.count + next.members.count <= limits.events, size + bytes <= most else { break }
      joined += next.members
      size += bytes
      lanes[index].planned.removeFirst()
    }
    if !joined.isEmpty { lanes[index].planned.insert(Lane.Cut(members: joined), at: 0) }
  }

  private mutating func learnBytes(_ cut: Lane.Cut, at now: Int64) {
    guard cut.members.count > 1 else { return }
    let bound = max(bytes(of: cut.members) / 2, limits.headBytes + 1)
    learntBytes = (min(bound, learntBytes?.bound ?? bound), now)
  }

  /// The users of the listed events wait, with all that is theirs; the others are sent again.
  private mutating func hold(
    _ items: [Int], of cut: Lane.Cut, for time: Duration, _ reason: String, _ index: Int,
    at now: Int64
  ) {
    let members = cut.members
    let keys = Set(items.filter { members.indices.contains($0) }.map { backlog.key(members[$0]) })
    guard !keys.isEmpty else {
      return failed(cut, reason, index, DeliveryAnswer(reason: reason), at: now)
    }
    gotThrough(cut, index)
    let wait = min(max(time, .seconds(1)), DeliveryVerdict.longestPause)
    let isHeld = { [backlog] (number: Backlog.Number) in keys.contains(backlog.key(number)) }
    let rest = dropForgotten(members)
    let waiting = rest.filter(isHeld) + lanes[index].withdraw(isHeld)
    for number in waiting {
      let key = backlog.key(number)
      if lanes[index].held[key]?.suspect == number {
        lanes[index].held[key]?.isBeingTried = false
        continue
      }
      var hold =
        lanes[index].held.removeValue(forKey: key)
        ?? Lane.Hold(until: 0, backoff: lanes[index].backoff)
      if cut.isLone {
        // A probe: it has not left its place.
        hold.isBeingTried = false
      } else {
        hold.events.append(number)
      }
      lanes[index].held[key] = hold
    }
    for key in keys { lanes[index].held[key]?.until = now + wait.nanoseconds }
    counts.holds += UInt64(keys.count)
    actions.append(.report(.holding(users: keys.count, reason, wait: wait)))
    note(reason, at: now)
    replan(rest.filter { !isHeld($0) }, index)
  }

  /// The same events again, when the wait is over.
  private mutating func again(
    _ cut: Lane.Cut, _ reason: String, _ report: DeliveryReport, _ index: Int, at now: Int64
  ) {
    actions.append(.report(report))
    note(reason, at: now)
    var cut = cut
    cut.members = dropForgotten(cut.members)
    putBack(cut, index, at: now)
  }

  mutating func replan(_ members: [Backlog.Number], _ index: Int) {
    let left = dropForgotten(members.filter { backlog.isWaiting($0) })
    if !left.isEmpty { lanes[index].planned.insert(Lane.Cut(members: left), at: 0) }
  }

  /// Settles those whose people were forgotten while they were under way.
  mutating func dropForgotten(_ members: [Backlog.Number]) -> [Backlog.Number] {
    members.filter { number in
      guard let slot = backlog.slot(number), slot.outcome == nil else { return false }
      guard slot.isForgotten else { return true }
      settle(number, .forgotten)
      return false
    }
  }

  mutating func note(_ reason: String, at now: Int64) { lastError = (reason, now) }
}

/// What dead letters keep of an answer.
public struct DeliveryAnswer: Hashable, Sendable {
  /// 0: there was none.
  public var status: Int
  /// The beginning of the body, made fit to be shown.
  public var text: String
  /// Status and text, or why there is no answer.
  public var reason: String

  public init(status: Int = 0, text: String = "", reason: String) {
    self.status = status
    self.text = text
    self.reason = reason
  }
}
