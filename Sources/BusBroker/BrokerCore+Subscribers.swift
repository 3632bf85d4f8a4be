internal import BusProtocol
internal import EventJournal
internal import Primitives

/// Durable subscribers: OPEN, CREDIT, COMMIT, CLOSE, and who fences whom.
extension BrokerCore {
  mutating func open(
    _ message: RawSpan, from peer: Peer, at now: Int64
  ) throws(ProtocolError) {
    let open = try OpenMessage(decoding: message)
    guard !isDraining else {
      return refuse(.draining, "the broker is stopping", token: 0, peer: peer)
    }
    // Who may not read what a name reads has no business with its cursor either.
    let reset = open.reset ? cursors[open.name]?.filters : nil
    if let text = denial(of: open.filters, by: sender)
      ?? reset.flatMap({ denial(of: $0, by: sender) })
    {
      return refuse(.denied, text, token: 0, peer: peer)
    }
    if !open.name.isEmpty {
      if let known = cursors[open.name] {
        guard known.filters == open.filters || open.reset else {
          return refuse(
            .filtersDiffer,
            "'\(text(open.name))' is known with other filters: ask for --reset, or take another name",
            token: 0, peer: peer)
        }
      } else if cursors.isFull {
        return refuse(
          .overload, "\(cursors.limit) named subscribers are known: delete one", token: 0,
          peer: peer)
      }
    } else if subscriberSessions.count - tokenOfSubscriber.count >= cursors.limit {
      return refuse(
        .overload, "\(cursors.limit) subscribers without a name are open: close one", token: 0,
        peer: peer)
    }
    if case .time(let time) = open.timeToLookUp(known: cursors[open.name] != nil) {
      // Where a time begins stands in the segment files: the reader thread looks, then opens.
      return actions.append(
        .read(.openAt(time: time, end: journal.durableHead, open, peer, sender)))
    }
    finishOpen(open, from: peer, by: sender, at: now, timeOffset: nil)
  }

  /// The second half of OPEN, with the offset that a start time means.
  mutating func finishOpen(
    _ open: OpenMessage, from peer: Peer, by holder: AccessHolder?, at now: Int64,
    timeOffset: UInt64?
  ) {
    fence(open)
    let known = open.name.isEmpty ? nil : cursors[open.name]
    let (cursor, gap) = resolve(open.start, known: known, timeOffset: timeOffset)
    let token = newToken()
    let session = SubscriberSession(
      token: token, peer: peer, name: open.name, instance: open.instance,
      client: text(Array(open.client.utf8.prefix(100))), filter: SubscriptionFilter(open.filters),
      holder: holder, lastSeen: now, position: cursor, committed: cursor)
    subscriberSessions[token] = session
    deliveryOrder.append(token)
    if !open.name.isEmpty {
      tokenOfSubscriber[open.name] = token
      var record =
        known
        ?? CursorRecord(
          name: open.name, cursor: cursor, filters: open.filters, created: now, lastSeen: now)
      // Elsewhere than at its cursor a known name only looks: the cursor, which an operator may have
      // moved, is its own until it commits.
      if case .cursor = open.start { record.cursor = cursor }
      record.filters = open.filters
      record.lastSeen = now
      record.missed += gap.map { $0.to.offset - min($0.to.offset, $0.from.offset) } ?? 0
      cursors.put(record)
    }
    let opened = OpenedMessage(
      token: token, cursor: cursor, earliest: retention.earliest, head: journal.durableHead,
      seekGeneration: known?.seekGeneration ?? 0, isPaused: known?.isPaused ?? false,
      epochs: journal.epochs.map { .init(epoch: $0.number, firstOffset: $0.firstOffset) },
      broker: description)
    actions.append(.send(peer, opened.encode()))
    if var gap {
      gap.token = token
      actions.append(.send(peer, gap.encode()))
    }
  }

  private mutating func fence(_ open: OpenMessage) {
    guard !open.name.isEmpty, let old = tokenOfSubscriber[open.name],
      let session = subscriberSessions[old]
    else { return }
    if session.instance != open.instance || open.instance.isEmpty {
      metrics.sessionsFenced += 1
      actions.append(.send(session.peer, MessageHeader(.fenced, token: old).message))
    }
    endSubscriber(old)
  }

  /// Where a subscriber begins, and what it misses.
  func resolve(
    _ start: StartPosition, known: CursorRecord?, timeOffset: UInt64?
  ) -> (Position, GapMessage?) {
    let head = journal.durableHead
    switch start {
    case .cursor(let otherwise):
      if let known { return settle(known.cursor) }
      return resolve(otherwise, known: nil, timeOffset: timeOffset)
    case .earliest: return (place(retention.earliest), nil)
    case .latest: return (place(head), nil)
    case .position(let position): return settle(position)
    // One beyond the head was never anybody's: nothing is missed, as with a seek.
    case .offset(let offset): return settle(place(min(offset, head)))
    case .time: return (place(timeOffset ?? head), nil)
    }
  }

  /// An offset with the epoch it lies in.
  func place(_ offset: UInt64) -> Position {
    let epoch = journal.epochs.last { $0.firstOffset <= offset } ?? journal.epochs.first
    return Position(epoch: epoch?.number ?? 0, offset: offset)
  }

  /// The offset after the last event of an epoch.
  private func end(ofEpoch number: UInt32) -> UInt64 {
    journal.epochs.first { $0.number > number }?.firstOffset ?? journal.durableHead
  }

  private func isWithinEpoch(_ cursor: Position) -> Bool {
    cursor.epoch <= journal.epoch && cursor.offset <= end(ofEpoch: cursor.epoch)
  }

  /// Puts back a cursor that lies beyond its epoch's end, or behind retention, and says what is missed.
  private func settle(_ cursor: Position) -> (Position, GapMessage?) {
    let end = self.end(ofEpoch: cursor.epoch)
    if cursor.offset > end {
      let back = place(end)
      return (back, GapMessage(token: 0, from: cursor, to: back, why: "epoch"))
    }
    if cursor.offset < retention.earliest {
      let next = place(retention.earliest)
      return (next, GapMessage(token: 0, from: cursor, to: next, why: "retention"))
    }
    return (place(cursor.offset), nil)
  }

  mutating func credit(
    _ header: MessageHeader, _ message: RawSpan, from peer: Peer, at now: Int64
  ) throws(ProtocolError) {
    guard touch(header.token, peer: peer, at: now), subscriberSessions[header.token] != nil else {
      return reset(header.token, peer)
    }
    let credit = try CreditMessage(decoding: message)
    // Totals only grow: an older message that comes late changes nothing.
    if subscriberSessions[header.token]!.firstGrant == 0 {
      subscriberSessions[header.token]!.firstGrant = credit.bytes
    }
    let session = subscriberSessions[header.token]!
    subscriberSessions[header.token]!.creditEvents = max(session.creditEvents, credit.events)
    subscriberSessions[header.token]!.creditBytes = max(session.creditBytes, credit.bytes)
  }

  mutating func commit(
    _ header: MessageHeader, _ message: RawSpan, from peer: Peer, at now: Int64
  ) throws(ProtocolError) {
    guard touch(header.token, peer: peer, at: now),
      let session = subscriberSessions[header.token]
    else { return reset(header.token, peer) }
    let cursor = try CommitMessage(decoding: message).cursor
    guard !session.name.isEmpty else { throw .body(.commit, reason: "the subscriber has no name") }
    guard cursor.offset <= session.position.offset else {
      throw .body(
        .commit,
        reason: "cursor \(cursor.offset) lies beyond \(session.position.offset), the last sent")
    }
    // Its offset may be another event's by now: the session is opened anew, and told of the gap.
    guard isWithinEpoch(cursor) else { return resetSubscriber(header.token, peer) }
    metrics.commits += 1
    subscriberSessions[header.token]!.committed = cursor
    guard var record = cursors[session.name] else { return }
    record.cursor = cursor
    record.lastSeen = now
    cursors.put(record)
  }

  /// A transaction of the cursor store ended: whoever waits for it is told.
  mutating func stored(_ changes: [CursorChange], failure: String?) {
    cursors.wrote(changes, succeeded: failure == nil)
    answerWaiting(failure)
    if let failure {
      return report(.error, "cursor_store", "cursors are not durable now: \(failure)")
    }
    for case .put(let record) in changes {
      guard let token = tokenOfSubscriber[record.name], let session = subscriberSessions[token]
      else { continue }
      actions.append(
        .send(session.peer, CommitMessage(cursor: record.cursor).encode(.committed, token: token)))
    }
  }

  mutating func close(_ header: MessageHeader, from peer: Peer) {
    if producerSessions[header.token]?.peer == peer { endProducer(header.token) }
    if subscriberSessions[header.token]?.peer == peer { endSubscriber(header.token) }
  }

  /// Ends a session and tells its client to open again.
  mutating func resetSubscriber(_ token: UInt64, _ peer: Peer) {
    endSubscriber(token)
    reset(token, peer)
  }

  mutating func endSubscriber(_ token: UInt64) {
    guard let session = subscriberSessions.removeValue(forKey: token) else { return }
    if tokenOfSubscriber[session.name] == token { tokenOfSubscriber[session.name] = nil }
    deliveryOrder.removeAll { $0 == token }
  }

  /// A peer that is gone, or that took no more messages: its sessions end; it opens them again if it
  /// lives.
  mutating func peerLost(_ peer: Peer, isFull: Bool) {
    if isFull { metrics.peersLost += 1 }
    for (token, session) in producerSessions where session.peer == peer { endProducer(token) }
    for (token, session) in subscriberSessions where session.peer == peer { endSubscriber(token) }
  }

  func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension OpenMessage {
  /// The start, if it is a time that must be looked up.
  func timeToLookUp(known: Bool) -> StartPosition? {
    switch start {
    case .time: start
    case .cursor(let otherwise) where !known: if case .time = otherwise { otherwise } else { nil }
    default: nil
    }
  }
}
