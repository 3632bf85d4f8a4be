internal import BusProtocol
internal import EventJournal
internal import Primitives

/// What goes to durable subscribers, when, and how much at a time.
extension BrokerCore {
  /// What one subscriber may have in queues on its account: its share of the budget for all, so that
  /// fifty stopped ones cost no more memory than one.
  private var outstandingShare: UInt64 {
    let share = configuration.outstandingBytes / max(1, subscriberSessions.count)
    return UInt64(max(CreditMessage.leastShare, min(share, 8 << 20)))
  }

  /// One turn: each subscriber gets at most one message, so that one which catches up does not starve
  /// the others, nor ingest. Returns whether another turn would send more.
  mutating func deliver() -> Bool {
    guard !deliveryOrder.isEmpty else { return false }
    var more = false
    for token in deliveryOrder { more = deliver(token) || more }
    // Whoever was last is first next time.
    deliveryOrder.append(deliveryOrder.removeFirst())
    return more
  }

  private mutating func deliver(_ token: UInt64) -> Bool {
    guard let session = subscriberSessions[token], !session.isReading, session.hasCredit,
      session.outstandingBytes < outstandingShare,
      cursors[session.name]?.isPaused != true
    else { return false }
    let head = journal.durableHead
    guard session.position.offset < head else {
      announceHead(token)
      return false
    }
    let bytes = Int(clamping: session.creditBytes - session.sentBytes)
    let events = Int(clamping: session.creditEvents - session.sentEvents)
    let limit = min(DeliveryBuilder.messageBytes, bytes)
    guard session.position.offset >= tail.first else {
      readCold(session, limitBytes: limit, limitEvents: events)
      return false
    }
    let chunks = tail.chunks(from: session.position.offset)
    var builder = DeliveryBuilder(
      MessageHeader(.batch, token: token), subscriber: session.name, from: session.position,
      limitBytes: limit, limitEvents: events,
      expecting: session.filter.matchesAll ? DeliveryBuilder.bytes(of: chunks, atMost: limit) : 0)
    for chunk in chunks {
      builder.add(chunk, filter: &subscriberSessions[token]!.filter)
      if builder.isFull { break }
    }
    sent(token, &builder)
    return subscriberSessions[token]!.position.offset < head
  }

  private mutating func sent(_ token: UInt64, _ builder: inout DeliveryBuilder) {
    let message = builder.finish()
    if let unreadable = builder.unreadable { leftOut(unreadable) }
    delivered(
      token, message, events: builder.eventCount, deliveries: builder.deliveries,
      scannedTo: builder.scannedTo)
  }

  /// Accounts for a message and sends it. One without deliveries only moves the position; the client
  /// learns of it with the next message, or with HEAD.
  private mutating func delivered(
    _ token: UInt64, _ message: [UInt8], events: Int, deliveries: Int, scannedTo: Position
  ) {
    subscriberSessions[token]!.position = scannedTo
    let session = subscriberSessions[token]!
    let isBehind = scannedTo.offset - min(scannedTo.offset, session.committed.offset) > 100_000
    guard deliveries > 0 || isBehind else { return }
    subscriberSessions[token]!.sentBytes += UInt64(message.count)
    subscriberSessions[token]!.sentEvents += UInt64(events)
    subscriberSessions[token]!.announcedHead = nil
    metrics.eventsDelivered += UInt64(events)
    metrics.messagesDelivered += 1
    if !session.name.isEmpty { cursors.addDelivered(session.name, events: events) }
    actions.append(.send(session.peer, message))
  }

  /// Counts what a delivery could not hold, and says it the first time.
  mutating func leftOut(_ batches: UnreadableBatches) {
    if metrics.eventsUnreadable == 0 {
      report(
        .error, "unreadable_batch",
        "the batch at offset \(batches.offset) cannot be read and is left out: \(batches.reason);"
          + " a newer version of this program can read it")
    }
    metrics.eventsUnreadable += UInt64(batches.events)
  }

  private mutating func readCold(
    _ session: SubscriberSession, limitBytes: Int, limitEvents: Int
  ) {
    subscriberSessions[session.token]!.isReading = true
    metrics.coldReads += 1
    actions.append(
      .read(
        .deliver(
          ReadRequest.Delivery(
            token: session.token, subscriber: session.name, filter: session.filter,
            from: session.position, end: journal.durableHead, limitBytes: limitBytes,
            limitEvents: limitEvents))))
  }

  /// The reader thread's answer to a cold read.
  mutating func readDone(_ result: ReadResult.Delivery) {
    guard subscriberSessions[result.token] != nil else { return }
    subscriberSessions[result.token]!.isReading = false
    subscriberSessions[result.token]!.filter = result.filter
    if let unreadable = result.unreadable { leftOut(unreadable) }
    let session = subscriberSessions[result.token]!
    // A seek while the read was under way makes its result worthless.
    guard session.position == result.from else { return }
    if let gap = result.gap {
      miss(result.token, to: place(gap.to), why: gap.why)
    } else {
      delivered(
        result.token, result.message, events: result.eventCount, deliveries: result.deliveries,
        scannedTo: result.scannedTo)
    }
  }

  /// Moves a subscriber over what is not there any more, and tells it.
  private mutating func miss(_ token: UInt64, to next: Position, why: String) {
    let session = subscriberSessions[token]!
    let message = GapMessage(token: token, from: session.position, to: next, why: why)
    subscriberSessions[token]!.position = next
    if var record = cursors[session.name] {
      record.missed += next.offset - min(next.offset, session.position.offset)
      cursors.put(record)
    }
    actions.append(.send(session.peer, message.encode()))
  }

  /// Says once that a subscriber has caught up with this head.
  private mutating func announceHead(_ token: UInt64) {
    let session = subscriberSessions[token]!
    guard session.announcedHead != journal.durableHead else { return }
    sendHead(token)
  }

  mutating func sendHead(_ token: UInt64) {
    let head = journal.durableHead
    let session = subscriberSessions[token]!
    subscriberSessions[token]!.announcedHead = head
    let lag = head - min(head, session.position.offset)
    let message = HeadMessage(
      head: head, lag: lag, isPaused: cursors[session.name]?.isPaused ?? false)
    actions.append(.send(session.peer, message.encode(token: token)))
  }
}
