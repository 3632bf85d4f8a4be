internal import Primitives

/// Which events go into the next request, and when it may be made.
extension DeliveryCore {
  /// Everything that is to be done now. Call it after each change, and at `nextDue`.
  public mutating func advance(at now: Int64) -> [DeliveryAction] {
    if !isStopping {
      if isOpen { startRequests(at: now) } else { startOpening(at: now) }
    }
    var taken: [DeliveryAction] = []
    swap(&taken, &actions)
    return taken
  }

  private mutating func startOpening(at now: Int64) {
    guard !isOpening, gate.allows(0, at: now) else { return }
    isOpening = true
    counts.requests += 1
    actions.append(.open)
  }

  private mutating func startRequests(at now: Int64) {
    for index in lanes.indices {
      releaseHolds(index, at: now)
      guard lanes[index].current == nil, now >= lanes[index].notBefore else { continue }
      guard gate.allows(underWay.count, at: now) else { continue }
      guard let cut = nextTurn(index, at: now) else { continue }
      start(cut, index, at: now)
    }
  }

  private mutating func start(_ cut: Lane.Cut, _ index: Int, at now: Int64) {
    let id = nextRequest
    nextRequest += 1
    var cut = cut
    cut.gateRound = gate.round
    lanes[index].current = cut
    underWay[id] = index
    counts.requests += 1
    let isRetry = backlog.slot(cut.members[0]).map { $0.tries > 0 } ?? false
    if isRetry { counts.retries += 1 }
    for number in cut.members { backlog.change(number) { $0.tries += 1 } }
    if let rate = configuration.eventsPerSecond, rate > 0 {
      let time = Int64(Double(cut.members.count) / rate * 1e9)
      gate.pacedUntil = max(now, gate.pacedUntil) + time
    }
    actions.append(
      .send(
        DeliveryRequest(id: id, items: cut.members.map { backlog.item($0) }, isRetry: isRetry)))
  }

  /// A suspect whose time has come and other work take turns, so that neither holds up the other.
  private mutating func nextTurn(_ index: Int, at now: Int64) -> Lane.Cut? {
    if !lanes[index].lastWasLone, let lone = nextLone(index, at: now) { return lone }
    let cut = nextCut(index, at: now) ?? nextLone(index, at: now)
    if cut?.isLone != true { lanes[index].lastWasLone = false }
    return cut
  }

  /// What was planned, else as much of the queue as fits, once it is worth it or has waited long enough.
  private mutating func nextCut(_ index: Int, at now: Int64) -> Lane.Cut? {
    while !lanes[index].planned.isEmpty {
      var cut = lanes[index].planned.removeFirst()
      cut.members.removeAll { !backlog.isWaiting($0) }
      if cut.members.isEmpty { continue }
      let isTooLong = cut.members.count > 1 && bytes(of: cut.members) > requestBytes(at: now)
      if cut.members.count > 1, cut.holdsBad || isTooLong {
        halve(cut, index)
        continue
      }
      return cautious(cut, index)
    }
    guard isWorthSending(index, at: now) else { return nil }
    let members = takeFromQueue(index, at: now)
    return members.isEmpty ? nil : Lane.Cut(members: members)
  }

  /// As much of it as may be asked about at a time; the rest is next. A retry stays as it is.
  private mutating func cautious(_ cut: Lane.Cut, _ index: Int) -> Lane.Cut {
    let most = lanes[index].caution.most
    guard cut.members.count > most, cut.tries == 0, !cut.isSuspect, !cut.isLone else { return cut }
    lanes[index].planned.insert(Lane.Cut(members: Array(cut.members[most...])), at: 0)
    return Lane.Cut(members: Array(cut.members[..<most]))
  }

  private func isWorthSending(_ index: Int, at now: Int64) -> Bool {
    let lane = lanes[index]
    guard !lane.queue.isEmpty else { return false }
    return lane.queue.count >= limits.events || lane.queuedBytes >= limits.requestBytes
      || now >= lane.queuedSince + configuration.linger.nanoseconds || !hasRoom
  }

  private mutating func takeFromQueue(_ index: Int, at now: Int64) -> [Backlog.Number] {
    let most = requestBytes(at: now) - limits.headBytes + limits.separatorBytes
    let count = min(limits.events, lanes[index].caution.most)
    var members: [Backlog.Number] = []
    var bytes = 0
    while let number = lanes[index].queue.first, members.count < count {
      let weight = weight(number)
      let isWaiting = backlog.isWaiting(number)
      if isWaiting, !members.isEmpty, bytes + weight > most { break }
      _ = lanes[index].queue.popFirst()
      lanes[index].queuedBytes -= isWaiting ? weight : 0
      guard isWaiting else { continue }
      let key = backlog.key(number)
      if lanes[index].held[key] != nil {
        lanes[index].held[key]?.events.append(number)
        continue
      }
      members.append(number)
      bytes += weight
    }
    lanes[index].queuedSince = now
    // Events that were erased while they waited weigh nothing any more.
    if lanes[index].queue.isEmpty { lanes[index].queuedBytes = 0 }
    return members
  }

  /// The body of a request with these events.
  func bytes(of members: [Backlog.Number]) -> Int {
    members.reduce(limits.headBytes - limits.separatorBytes) { $0 + weight($1) }
  }

  /// The bound of a request's body. What a 413 taught is unlearnt step by step, one an hour.
  mutating func requestBytes(at now: Int64) -> Int {
    guard var learnt = learntBytes else { return limits.requestBytes }
    if now - learnt.at > 3_600_000_000_000 { learnt = (learnt.bound * 2, now) }
    learntBytes = learnt.bound >= limits.requestBytes ? nil : learnt
    return min(limits.requestBytes, learnt.bound)
  }

  /// Puts the two halves where the whole was. When the first is then taken by the destination, the
  /// second holds what was refused.
  mutating func halve(_ cut: Lane.Cut, _ index: Int, isBad: Bool = false) {
    let middle = cut.members.count / 2
    var first = Lane.Cut(members: Array(cut.members[..<middle]))
    var second = Lane.Cut(members: Array(cut.members[middle...]))
    first.isSuspect = cut.isSuspect
    second.isSuspect = cut.isSuspect
    if cut.holdsBad || isBad {
      first.pair = nextPair
      second.pair = nextPair
      nextPair += 1
    }
    lanes[index].planned.insert(contentsOf: [first, second], at: 0)
  }

  /// Lets users go on whose time is over.
  private mutating func releaseHolds(_ index: Int, at now: Int64) {
    guard lanes[index].nextRelease <= now else { return }
    let due = lanes[index].held.filter { $0.value.suspect == nil && $0.value.until <= now }
    // Each goes to the front, so the one with the latest events goes first.
    for (key, _) in due.sorted(by: { $0.value.firstEvent > $1.value.firstEvent }) {
      release(key, index, at: now)
    }
  }

  /// Puts a user's events back before everything else, in their order.
  mutating func release(_ key: UInt64, _ index: Int, at now: Int64) {
    guard let hold = lanes[index].held.removeValue(forKey: key) else { return }
    let events = hold.events.filter { backlog.isWaiting($0) }
    lanes[index].queue.prepend(events)
    lanes[index].queuedBytes += events.reduce(0) { $0 + weight($1) }
    lanes[index].queuedSince = now - configuration.linger.nanoseconds
  }

  /// When `advance` has something to do, if nothing else happens; `Int64.max`: never.
  public var nextDue: Int64 {
    guard !isStopping else { return .max }
    let gateTime = max(gate.state == .open ? 0 : gate.notBefore, gate.pacedUntil)
    guard isOpen else { return isOpening ? .max : gateTime }
    var due = Int64.max
    for lane in lanes {
      due = min(due, lane.nextRelease)
      guard lane.current == nil else { continue }
      if gate.state != .open, !underWay.isEmpty { continue }
      due = min(due, max(gateTime, lane.notBefore, lane.nextLoneTry))
      guard lane.hasWork else { continue }
      let linger =
        lane.planned.isEmpty && lane.queue.count < limits.events
        ? lane.queuedSince + configuration.linger.nanoseconds : 0
      due = min(due, max(gateTime, lane.notBefore, linger))
    }
    return due
  }
}
