internal import Primitives
internal import BusProtocol
internal import EventJournal

/// What happens with time: sessions expire, heads are announced, an idle journal is marked.
extension BrokerCore {
  /// Without a sign of life for so long a session ends: three missed PINGs of two seconds, and room for
  /// a client that was stopped for a moment.
  static let sessionLife = Duration.seconds(10)

  /// Call it about once a second.
  mutating func tick(at now: Int64) {
    expire(at: now)
    for (token, session) in subscriberSessions where !session.isReading { sendHead(token) }
    if journal.needsIdleMark, pending.isEmpty, writing == 0 {
      journal.appendIdleMark(time: now)
    }
    flush(retrying: true)
    refreshLive()
    writeCursors(retrying: true)
  }

  private mutating func expire(at now: Int64) {
    let limit = now - Self.sessionLife.nanoseconds
    for (token, session) in producerSessions where session.lastSeen < limit {
      metrics.sessionsExpired += 1
      endProducer(token)
    }
    for (token, session) in subscriberSessions where session.lastSeen < limit {
      metrics.sessionsExpired += 1
      endSubscriber(token)
    }
    for session in subscriberSessions.values where !session.name.isEmpty {
      cursors.seen(session.name, at: now)
    }
  }

  /// Hands cursor changes to the store when it is free, and did not fail since the last tick.
  mutating func writeCursors(retrying: Bool = false) {
    let changes = cursors.takeChanges(retrying: retrying)
    guard !changes.isEmpty else { return }
    cursorReplies.begin()
    actions.append(.storeCursors(changes))
  }

  /// Begins an orderly end: nothing new is taken; what was taken is still written and acknowledged.
  mutating func drain() {
    isDraining = true
    flush()
    writeCursors(retrying: true)
  }

  /// Whether everything taken is written, so that the journal can be closed.
  var isDrained: Bool { pending.isEmpty && writing == 0 && !journal.hasPendingRecords }

  /// The last words to everybody, once drained.
  mutating func sayGoodbye() {
    for (token, session) in producerSessions {
      actions.append(.send(session.peer, MessageHeader(.bye, token: token).message))
    }
    for (token, session) in subscriberSessions {
      actions.append(.send(session.peer, MessageHeader(.bye, token: token).message))
    }
  }

  /// A read failed. Who waits for it is opened again by its own heartbeat; the operator is told.
  mutating func readFailed(_ text: String) {
    retention.isDeleting = false
    report(.error, "journal_read", text)
    for (token, session) in subscriberSessions where session.isReading {
      reset(token, session.peer)
    }
  }
}
