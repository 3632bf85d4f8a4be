internal import BusProtocol
internal import Primitives

/// What the broker says.
extension SubscriberCore {
  mutating func receive(_ message: RawSpan, at now: Int64) {
    guard phase != .ended else { return }
    do {
      let header = try MessageHeader(decoding: message)
      session.heard(at: now)
      let isMine = session.isLive && header.token == token
      switch header.verb {
      case .opened: opened(try OpenedMessage(decoding: message), at: now)
      case .batch where isMine: try deliver(message)
      case .committed where isMine:
        let cursor = try CommitMessage(decoding: message).cursor
        if wantedCommit == cursor { wantedCommit = nil }
        followsCursor = true
        actions.append(.committed(cursor))
      case .head where isMine:
        let head = try HeadMessage(decoding: message)
        actions.append(.head(head))
        if head.lag == 0 { caughtUp(head.head) }
      case .gap where isMine: gap(try GapMessage(decoding: message))
      case .refuse: refuse(try RefuseMessage(decoding: message), at: now)
      case .reset where isMine:
        actions.append(.notice(.sessionLost))
        open(at: now)
      case .fenced where isMine: end(.fenced)
      case .bye: bye(at: now)
      case .pong: break
      default: messagesIgnored += 1
      }
    } catch .version(let version) {
      end(.unsupportedVersion(text: ProtocolError.version(version).description))
    } catch {
      damaged(error, at: now)
    }
  }

  /// A delivery that cannot be read would be a hole: the session is opened anew at the same place.
  private mutating func damaged(_ error: ProtocolError, at now: Int64) {
    messagesIgnored += 1
    guard session.isLive else { return }
    switch error {
    case .batch, .body(.batch, _), .body(.gap, _):
      actions.append(.notice(.refusedForNow(code: "BAD_FRAME", text: error.description)))
      actions.append(.reconnect)
      wait(at: now, atLeast: .milliseconds(100))
    default: break
    }
  }

  private mutating func bye(at now: Int64) {
    switch phase {
    case .live:
      actions.append(.notice(.silent(missedHeartbeats: 0)))
      wait(at: now, atLeast: .zero)
    case .greeting: wait(at: now, atLeast: .zero)
    case .waiting, .ended: break
    }
  }

  private mutating func wait(at now: Int64, atLeast least: Duration) {
    session.wait(at: now, atLeast: least, using: &random)
  }

  private mutating func opened(_ opened: OpenedMessage, at now: Int64) {
    if session.isLive, opened.token == token { return }
    let isMoved = generation.map { opened.seekGeneration > $0 } ?? false
    if let own = settings.seekGeneration, !hasComparedCursor, position == nil {
      hasComparedCursor = true
      if opened.seekGeneration <= own, case .position(let mine) = settings.start,
        mine != opened.cursor
      {
        // No operator moved the cursor: the sink's own is the right one, whatever the broker's copy is.
        generation = opened.seekGeneration
        return open(at: now)
      }
      if opened.seekGeneration > own {
        sought(opened)
      }
    }
    if isMoved, !settings.name.isEmpty, !askedForCursor {
      // An operator moved the cursor, which this OPEN did not ask for.
      followsCursor = true
      position = position ?? opened.cursor
      return open(at: now)
    }
    generation = opened.seekGeneration
    lastEpoch = opened.epochs.last?.epoch ?? opened.cursor.epoch
    if !isMoved, pendingSeek == nil, let read = position ?? settings.start.position {
      let head = Position(epoch: lastEpoch, offset: opened.head)
      guard read <= head else { return end(.journalWentBack(read: read, head: head)) }
    }
    token = opened.token
    session.began(at: now, heartbeat: opened.broker.heartbeat)
    if askedForCursor { followsCursor = true }
    receivedEvents = 0
    receivedBytes = 0
    grantedEvents = 0
    grantedBytes = 0
    if isMoved {
      position = opened.cursor
      wantedCommit = nil
      sought(opened)
    }
    let last = position
    position = max(position ?? opened.cursor, opened.cursor)
    actions.append(.opened(opened))
    actions.append(.notice(.connected(broker: opened.broker)))
    if !isMoved, let last, let lost = ended(last, opened) { gap(lost) }
    guard session.isLive else { return }
    grantCredit()
    if let cursor = wantedCommit { recommit(cursor, opened) }
  }

  /// The events before `last` that this subscriber was given and the journal has no more: it lost its end, or
  /// is an older copy, and began a new epoch before them. The broker knows of what was committed only.
  private func ended(_ last: Position, _ opened: OpenedMessage) -> GapMessage? {
    guard let next = opened.epochs.first(where: { $0.epoch > last.epoch }),
      next.firstOffset < last.offset,
      let place = opened.epochs.last(where: { $0.firstOffset <= next.firstOffset })
    else { return nil }
    let to = Position(epoch: place.epoch, offset: next.firstOffset)
    return GapMessage(token: token, from: last, to: to, why: "epoch")
  }

  /// A commit that was not confirmed is asked for again, unless the broker already has it; what lies
  /// beyond this session's deliveries waits for them.
  private mutating func recommit(_ cursor: Position, _ opened: OpenedMessage) {
    guard cursor <= opened.cursor else { return }
    if askedForCursor { wantedCommit = nil } else { commit(cursor) }
  }

  private mutating func deliver(_ message: RawSpan) throws(ProtocolError) {
    guard let from = position else { return }
    let batch = try EventBatch(message, from: from)
    session.succeeded()
    receivedEvents += UInt64(batch.creditEvents)
    receivedBytes += UInt64(message.byteCount)
    waitingEvents += UInt64(batch.creditEvents)
    waitingBytes += UInt64(message.byteCount)
    guard batch.end > from || batch.count > 0 else {
      // Given out before the connection was lost.
      repeated += 1
      return take(events: batch.creditEvents, bytes: message.byteCount)
    }
    position = batch.end
    deliver(batch)
    if let cursor = wantedCommit, cursor <= batch.end { commit(cursor) }
  }

  /// Gives a batch out, with what happened directly before it.
  private mutating func deliver(_ batch: EventBatch) {
    var batch = batch
    batch.gap = pendingGap.take()
    batch.seek = pendingSeek.take()
    actions.append(.deliver(batch))
  }

  private mutating func sought(_ opened: OpenedMessage) {
    pendingSeek = .init(to: opened.cursor, generation: opened.seekGeneration)
    actions.append(.notice(.sought(to: opened.cursor, generation: opened.seekGeneration)))
  }

  /// Everything up to the head was looked at: the cursor may pass what no filter wanted.
  private mutating func caughtUp(_ head: UInt64) {
    if let position, position.offset < head {
      let end = Position(epoch: max(position.epoch, lastEpoch), offset: head)
      self.position = end
      deliver(EventBatch(end: end))
    }
    actions.append(.notice(.caughtUp(head: head)))
  }

  private mutating func gap(_ message: GapMessage) {
    let gap = SubscriberGap(from: message.from, to: message.to, why: message.why)
    actions.append(.notice(.gap(gap)))
    if settings.stopsAtGap { return end(.gap(gap)) }
    if let position, message.to > position { self.position = message.to }
    pendingGap = gap
  }

  private mutating func refuse(_ refusal: RefuseMessage, at now: Int64) {
    guard case .greeting = phase else { return }
    guard let code = refusal.knownCode, code.isRetriable else {
      return end(.refused(code: refusal.code, text: refusal.text))
    }
    actions.append(.notice(.refusedForNow(code: refusal.code, text: refusal.text)))
    wait(at: now, atLeast: refusal.retryAfter)
  }
}

extension StartPosition {
  /// Where it begins, if that is a position.
  fileprivate var position: Position? {
    if case .position(let position) = self { position } else { nil }
  }
}
