internal import BusProtocol
internal import BusTransport
internal import Primitives
internal import Synchronization

/// Carrying out what the core decided, and telling publishers and waiters.
extension ProducerLoop {
  mutating func perform(_ actions: [ProducerAction]) throws(TransportError) {
    let configuration = shared.configuration
    for action in actions {
      switch action {
      case .send(let bytes): try connection.send(bytes)
      case .reconnect: try connection.reconnect()
      case .acknowledged(let events, let cost, let row):
        settled.acknowledged += events
        free(events: events, cost: cost, row: row)
      case .refused(let events, let cost, let row):
        settled.refused += events.count
        free(events: events.count, cost: cost, row: row)
        if let report = configuration.onRefused { events.forEach(report) }
      case .stored(let tickets): tickets.store()
      case .refusedTickets(let refusals):
        for refusal in refusals {
          refusal.ticket.refuse(refusal.index, code: refusal.code, text: refusal.text)
        }
      case .welcomed(let sequence):
        let limits = core.broker?.limits ?? BusLimits()
        shared.state.withLock { state in
          state.storedSequence = sequence
          state.denial = nil
          state.limits = limits
        }
        shared.connected.signal()
      case .notice(let notice):
        if case .refusedForNow(RefusalCode.denied.rawValue, let text) = notice {
          shared.state.withLock { $0.denial = text }
        }
        let why = BusLink.reason(of: notice, at: configuration.address)
        let report = shared.state.withLock { $0.link.take(notice, why: why) }
        configuration.onNotice?(notice)
        if let report { configuration.onReport?(report) }
      case .failed(let error): failure = error
      }
    }
  }

  private mutating func free(events: Int, cost: Int, row: Int64?) {
    if cost == 0 {
      settled.unspooled += events
    } else {
      settled.events += events
      settled.bytes += cost
    }
    if let row { settled.rows.append(row) }
  }

  /// Enters what became final, answers who waited, and decides until when to sleep; nil: it is over.
  mutating func settle(at now: Int64, core due: Int64) -> Int64? {
    var done = ProducerSettled()
    swap(&done, &settled)
    if !done.rows.isEmpty {
      spool?.delete(done.rows)
      isSpoolFull = false
    }
    let hurries = core.isLive && core.queue.isEmpty && (spool?.isDrained ?? true)
    let (resent, reconnects, failure) = (core.resentEvents, core.reconnects, failure)
    let (linger, isSpoolFull) = (linger, isSpoolFull)
    let turn = shared.state.withLock { state -> ProducerTurn in
      state.enter(done)
      state.counters.resent = resent
      state.counters.reconnects = reconnects
      state.isSpoolFull = isSpoolFull
      state.failure = state.failure ?? failure
      return state.endTurn(at: now, due: due, linger: linger, hurries: hurries)
    }
    if turn.hasWaitersForRoom { shared.room.signal() }
    for (answer, result) in turn.answers { answer(result) }
    if done.acknowledged > 0 { shared.configuration.onAcknowledged?(done.acknowledged) }
    return turn.until
  }

  /// The last act: what is left goes to the spool if there is one, and everybody who waits is told.
  mutating func finish() {
    // Those that wait for a receipt are told that none will come.
    let left = (0..<core.queue.count).map { core.queue[$0].tickets }
    var kept = 0
    if spool != nil {
      var before: [OutgoingBatch] = []
      var after: [OutgoingBatch] = []
      var metSpooled = false
      while let batch = core.queue.popFirst() {
        if batch.row != nil {
          metSpooled = true
        } else if metSpooled {
          after.append(batch)
        } else {
          before.append(batch)
        }
      }
      after += shared.state.withLock { state in
        state.closeBatch()
        return state.closed
      }
      kept = spool?.keep(before: before, after: after) ?? 0
    }
    shared.state.withLock { state in
      state.counters.spilled += UInt64(kept)
      state.counters.inSpool += UInt64(kept)
    }
    // Lets `status` forget the session at once; it would notice by itself.
    do throws(TransportError) {
      try connection.send(MessageHeader(.close, token: core.token).message)
    } catch {
      // The socket is going anyway.
    }
    Self.end(shared, failure: failure)
    for tickets in left { tickets.lose() }
  }

  static func end(_ shared: ProducerShared, failure: BusClientError?) {
    let (flushes, result, left) = shared.state.withLock { state in
      state.failure = state.failure ?? failure
      state.closeBatch()
      let left = state.closed.map(\.tickets)
      state.closed = []
      state.activity = .ended
      state.isClosing = true
      let flushes = state.flushes
      state.flushes = []
      return (flushes, state.flushResult, left)
    }
    for tickets in left { tickets.lose() }
    shared.connected.signal()
    shared.room.signal()
    for flush in flushes { flush.answer(result) }
  }
}

/// What became final in one turn of the loop.
struct ProducerSettled: Sendable {
  var acknowledged = 0
  var refused = 0
  var damaged = 0
  var spilled = 0
  /// Events that were in the spool and are settled.
  var unspooled = 0
  /// That left memory, settled or spilled.
  var events = 0
  var bytes = 0
  var rows: [Int64] = []
}

/// What the loop learns when it has entered a turn's results.
struct ProducerTurn: Sendable {
  var answers: [(@Sendable (FlushResult) -> Void, FlushResult)] = []
  var hasWaitersForRoom = false
  /// When to look again, if nothing wakes it; nil when the producer is to end.
  var until: Int64?
}

extension ProducerState {
  mutating func enter(_ done: ProducerSettled) {
    counters.acknowledged += UInt64(done.acknowledged)
    counters.refused += UInt64(done.refused)
    counters.damaged += UInt64(done.damaged)
    counters.spilled += UInt64(done.spilled)
    counters.inSpool += UInt64(done.spilled)
    counters.inSpool -= min(counters.inSpool, UInt64(done.unspooled + done.damaged))
    memoryEvents -= done.events
    memoryBytes -= done.bytes
  }

  mutating func endTurn(at now: Int64, due: Int64, linger: Int64, hurries: Bool) -> ProducerTurn {
    var turn = ProducerTurn()
    turn.hasWaitersForRoom = roomWaiters > 0 && hasRoom
    var until = due
    var waiting: [FlushWaiter] = []
    for flush in flushes {
      if settled >= flush.target || now >= flush.deadline {
        turn.answers.append((flush.answer, flushResult))
      } else {
        waiting.append(flush)
        until = min(until, flush.deadline)
      }
    }
    flushes = waiting
    if failure != nil { return turn }
    if isClosing {
      if settled >= counters.published || now >= closeDeadline { return turn }
      until = min(until, closeDeadline)
    }
    if !closed.isEmpty || (hurries && !builder.isEmpty) {
      activity = .busy
      until = now
    } else if builder.isEmpty {
      activity = .idle
    } else {
      activity = .lingering
      until = min(until, openedAt + linger)
    }
    turn.until = until
    return turn
  }
}
