internal import EventJournal
internal import BusProtocol
internal import EventCodec
internal import Primitives

/// Producers: HELLO, PUBLISH, and the window each may have in flight.
extension BrokerCore {
  /// What one producer may have unacknowledged: its share of the one ingest budget. At least a batch, so
  /// that a thousand producers still move; the budget itself is enforced at every batch.
  var producerWindow: Int {
    let share = configuration.ingestBytes / max(1, producerSessions.count)
    return max(configuration.limits.messageBytes, min(share, configuration.ingestBytes / 2))
  }

  mutating func hello(
    _ message: RawSpan, from peer: Peer, at now: Int64
  ) throws(ProtocolError) {
    let hello = try HelloMessage(decoding: message)
    let bytes = unsafe hello.producer.span.bytes
    let id = JournalProducer(high: bytes.bigEndian(at: 0), low: bytes.bigEndian(at: 8))
    guard !isDraining else {
      return refuse(.draining, "the broker is stopping", token: 0, peer: peer)
    }
    if let text = denialOfHello(hello) { return refuse(.denied, text, token: 0, peer: peer) }
    guard producers.admit(id, at: now) else {
      return refuse(
        .tooManyProducers,
        "\(producers.limit) producers are known, and none was idle long enough to be forgotten",
        token: 0, peer: peer)
    }
    if let old = tokenOfProducer[id], let session = producerSessions[old] {
      if session.instance != hello.instance || hello.instance.isEmpty {
        metrics.sessionsFenced += 1
        actions.append(.send(session.peer, MessageHeader(.fenced, token: old).message))
      }
      endProducer(old)
    }
    let token = newToken()
    let stored = producers[id]!.lastSequence
    producerSessions[token] = ProducerSession(
      token: token, peer: peer, producer: id, instance: hello.instance,
      client: text(Array(hello.client.utf8.prefix(100))), mayForget: hello.mayForget,
      holder: sender, lastSeen: now, durableSequence: stored)
    tokenOfProducer[id] = token
    actions.append(
      .send(
        peer,
        WelcomeMessage(
          token: token, epoch: journal.epoch, storedSequence: durableSequence(of: id),
          windowBytes: producerWindow, broker: description
        ).encode()))
  }

  /// The last sequence of a producer that is on disk. What is on its way there must be sent again: if
  /// it arrives, it is a duplicate; if the broker dies first, it is needed.
  private func durableSequence(of id: JournalProducer) -> UInt64 {
    for group in pending {
      if let first = group.acknowledgements.first(where: { $0.producer == id }) {
        return first.previous
      }
    }
    if let first = openGroup.acknowledgements.first(where: { $0.producer == id }) {
      return first.previous
    }
    return producers[id]?.lastSequence ?? 0
  }

  mutating func publish(
    _ header: MessageHeader, _ message: RawSpan, from peer: Peer, at now: Int64
  ) throws(ProtocolError) {
    guard var session = producerSessions[header.token], session.peer == peer else {
      return reset(header.token, peer)
    }
    session.lastSeen = now
    producerSessions[header.token]!.lastSeen = now
    let publish = try PublishMessage(decoding: message)
    let bytes = message.extracting(PublishMessage.batchStart..<message.byteCount)
    let batch: Batch
    do throws(ProtocolError) {
      batch = try Batch(checking: bytes, maximumEvents: configuration.limits.batchEvents)
      guard !batch.hasDistances else { throw .batch(reason: "it has distances") }
    } catch {
      metrics.eventsReceived += 1
      metrics.eventsRefused += 1
      refusals.count(.badFrame, on: .bus, sample: error.description)
      return refuse(publish, .badFrame, error.description, session)
    }
    metrics.eventsReceived += UInt64(batch.eventCount)
    let last = producers[session.producer]?.lastSequence ?? 0
    if publish.sequence <= last {
      return duplicate(publish, batch, session)
    }
    guard publish.previous == last else {
      let text = "the last sequence taken is \(last)"
      metrics.eventsRefused += UInt64(batch.eventCount)
      refusals.count(.sequenceGap, on: .bus, events: batch.eventCount, sample: text)
      return refuse(publish, .sequenceGap, text, session)
    }
    if let (code, text) = unwilling(bytes: bytes.byteCount) {
      metrics.eventsRefused += UInt64(batch.eventCount)
      refusals.count(code, on: .bus, events: batch.eventCount, sample: text)
      return refuse(publish, code, text, session)
    }
    store(publish, batch, bytes, session, at: now)
  }

  /// Why nothing can be taken at all now, with the code that says when to try again.
  func unwilling(bytes: Int) -> (RefusalCode, String)? {
    if isDraining { return (.draining, "the broker is stopping") }
    if let writeTrouble { return (.diskFull, writeTrouble) }
    if let text = retention.refusal { return (.diskFull, text) }
    if bytesInFlight + bytes > configuration.ingestBytes + configuration.limits.messageBytes {
      return (.overload, "\(bytesInFlight) bytes are on their way to the disk")
    }
    return nil
  }

  private mutating func store(
    _ publish: PublishMessage, _ batch: Batch, _ bytes: RawSpan, _ session: ProducerSession,
    at now: Int64
  ) {
    let refused = check(batch, bytes, by: session)
    guard refused.isEmpty else {
      metrics.eventsRefused += UInt64(refused.count)
      for event in refused {
        // `check` made it of one.
        guard let code = RefusalCode(rawValue: event.code) else { continue }
        refusals.count(code, on: .bus, sample: event.text)
      }
      var message = RefuseMessage(
        token: session.token, code: .badPayload,
        text: refused.count.counted("event is", "events are") + " refused")
      message.code = refused[0].code
      message.sequence = publish.sequence
      message.round = publish.round
      message.lastSequence = producers[session.producer]?.lastSequence ?? 0
      message.events = refused
      // The others come again without them, and are counted then.
      metrics.eventsReceived -= UInt64(batch.eventCount - refused.count)
      actions.append(.send(session.peer, message.encode()))
      return
    }
    let end = append(
      bytes, batch, producer: session.producer, sequence: publish.sequence, at: now)
    producers.took(
      session.producer, sequence: publish.sequence, events: batch.eventCount, at: now)
    openGroup.acknowledge(
      producer: session.producer, token: session.token, previous: publish.previous,
      sequence: publish.sequence, nextOffset: end, bytes: bytes.byteCount)
    producerSessions[session.token]!.bytesInFlight += bytes.byteCount
    producerSessions[session.token]!.events += UInt64(batch.eventCount)
  }

  /// Sent again though it was taken: acknowledged if it is durable, else with its group.
  private mutating func duplicate(
    _ publish: PublishMessage, _ batch: Batch, _ session: ProducerSession
  ) {
    metrics.eventsDuplicate += UInt64(batch.eventCount)
    producerSessions[session.token]!.duplicates += UInt64(batch.eventCount)
    let durable = durableSequence(of: session.producer)
    if publish.sequence <= durable {
      acknowledge(session.token, sequence: durable, nextOffset: session.nextOffset)
    } else {
      // The session that sent it first may be gone: this one gets the acknowledgement.
      openGroup.adopt(producer: session.producer, token: session.token)
      for index in pending.indices {
        pending[index].adopt(producer: session.producer, token: session.token)
      }
    }
  }

  mutating func acknowledge(_ token: UInt64, sequence: UInt64, nextOffset: UInt64) {
    guard let session = producerSessions[token] else { return }
    actions.append(
      .send(
        session.peer,
        AcknowledgeMessage(
          sequence: sequence, nextOffset: nextOffset, windowBytes: UInt32(clamping: producerWindow)
        ).encode(token: token)))
  }

  private mutating func refuse(
    _ publish: PublishMessage, _ code: RefusalCode, _ text: String, _ session: ProducerSession
  ) {
    var message = RefuseMessage(token: session.token, code: code, text: text)
    message.sequence = publish.sequence
    message.round = publish.round
    message.lastSequence = producers[session.producer]?.lastSequence ?? 0
    message.retryAfter = code == .diskFull ? .seconds(1) : .milliseconds(100)
    actions.append(.send(session.peer, message.encode()))
  }

  mutating func endProducer(_ token: UInt64) {
    guard let session = producerSessions.removeValue(forKey: token) else { return }
    if tokenOfProducer[session.producer] == token {
      tokenOfProducer[session.producer] = nil
    }
  }
}
