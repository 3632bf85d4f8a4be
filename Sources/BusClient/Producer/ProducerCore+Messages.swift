internal import BusProtocol
internal import Primitives

/// What the broker says.
extension ProducerCore {
  mutating func receive(_ message: RawSpan, at now: Int64) {
    guard phase != .ended else { return }
    do {
      let header = try MessageHeader(decoding: message)
      session.heard(at: now)
      switch header.verb {
      case .welcome: welcome(try WelcomeMessage(decoding: message), at: now)
      case .acknowledge where header.token == token:
        acknowledge(try AcknowledgeMessage(decoding: message))
      case .refuse: refuse(try RefuseMessage(decoding: message), at: now)
      case .reset where header.token == token && isLive:
        actions.append(.notice(.sessionLost))
        beginRound(at: 0)
        greet(at: now)
      case .fenced where header.token == token && isLive: end(.fenced)
      case .bye: bye(at: now)
      case .pong: break
      default: messagesIgnored += 1
      }
    } catch .version(let version) {
      end(.unsupportedVersion(text: ProtocolError.version(version).description))
    } catch {
      // Nothing rests on one message: what it should have said, the heartbeat or the next one says.
      messagesIgnored += 1
    }
  }

  private mutating func bye(at now: Int64) {
    guard case .live = phase else {
      if case .greeting = phase { wait(at: now, atLeast: .zero) }
      return
    }
    actions.append(.notice(.silent(missedHeartbeats: 0)))
    beginRound(at: 0)
    wait(at: now, atLeast: .zero)
  }

  private mutating func wait(at now: Int64, atLeast least: Duration) {
    session.wait(at: now, atLeast: least, using: &random)
  }

  private mutating func welcome(_ welcome: WelcomeMessage, at now: Int64) {
    // Sequences are the clients' own numbers; whose are these, there is none behind them.
    guard welcome.storedSequence < .max >> 1 else {
      return end(
        .refused(
          code: RefusalCode.badRequest.rawValue,
          text: "batch \(welcome.storedSequence) of this producer is stored, and none can follow: "
            + "publish under another identity"))
    }
    let isNew = !isLive || welcome.token != token
    token = welcome.token
    window = welcome.windowBytes
    broker = welcome.broker
    session.began(at: now, heartbeat: welcome.broker.heartbeat)
    guard isNew else { return }
    beginRound(at: 0)
    settle(through: welcome.storedSequence)
    // What the broker says counts, also when it is less than it once acknowledged: a journal that was
    // replaced or lost its tail goes on from what it has.
    stored = welcome.storedSequence
    lastSequence = max(lastSequence, stored)
    actions.append(.welcomed(storedSequence: stored))
    actions.append(.notice(.connected(broker: welcome.broker)))
    dropStored()
    fit(from: 0)
  }

  private mutating func acknowledge(_ message: AcknowledgeMessage) {
    window = Int(message.windowBytes)
    session.succeeded()
    settle(through: min(message.sequence, lastSequence))
    stored = max(stored, min(message.sequence, lastSequence))
  }

  /// Lets go of the batches that the broker has.
  mutating func settle(through sequence: UInt64) {
    while !queue.isEmpty, queue[0].wasSent || queue[0].row != nil, queue[0].sequence != 0,
      queue[0].sequence <= sequence
    {
      let batch = remove(at: 0)
      actions.append(.acknowledged(events: batch.events, cost: batch.cost, row: batch.row))
      if !batch.tickets.isEmpty { actions.append(.stored(batch.tickets)) }
    }
  }

  /// Takes a batch out of the queue and out of what is in flight.
  mutating func remove(at index: Int) -> OutgoingBatch {
    let batch = queue[index]
    if index < sent {
      sent -= 1
      bytesInFlight -= batch.batchBytes
    }
    queuedCost -= batch.cost
    queuedEvents -= batch.events
    if index == 0 { _ = queue.popFirst() } else { queue.remove(at: index) }
    return batch
  }

  /// Puts another in the place of a batch that is not in flight.
  mutating func replace(at index: Int, by batch: OutgoingBatch) {
    queuedCost += batch.cost - queue[index].cost
    queuedEvents += batch.events - queue[index].events
    queue[index] = batch
  }

  private mutating func refuse(_ refusal: RefuseMessage, at now: Int64) {
    if case .greeting = phase, refusal.sequence == 0 {
      guard let code = refusal.knownCode, code.isRetriable else {
        return end(.refused(code: refusal.code, text: refusal.text))
      }
      actions.append(.notice(.refusedForNow(code: refusal.code, text: refusal.text)))
      return wait(at: now, atLeast: refusal.retryAfter)
    }
    // A refusal of an older round was answered by beginning this one.
    guard isLive, refusal.token == token, refusal.round == round,
      let index = (0..<sent).first(where: { queue[$0].sequence == refusal.sequence })
    else { return }
    switch refusal.knownCode {
    case .sequenceGap: gap(refusal, at: now)
    case let code? where code.isRetriable:
      actions.append(.notice(.refusedForNow(code: refusal.code, text: refusal.text)))
      resumeAt = now + session.pause(atLeast: refusal.retryAfter, using: &random)
      beginRound(at: index)
    default:
      takeOut(refusal, at: index)
      beginRound(at: min(index, sent))
    }
  }

  /// The broker's last sequence is not what this batch follows.
  private mutating func gap(_ refusal: RefuseMessage, at now: Int64) {
    let last = refusal.lastSequence
    if last == stored {
      beginRound(at: 0)
    } else if let index = (0..<sent).first(where: { queue[$0].sequence == last }) {
      beginRound(at: index + 1)
    } else {
      // Nothing of ours ends there, as when a run before this one cut its batches otherwise: ask what is
      // on disk, a little later, when what is on its way there has arrived.
      beginRound(at: 0)
      wait(at: now, atLeast: max(refusal.retryAfter, .milliseconds(20)))
    }
  }

  /// Takes the refused events out; without a list, the whole batch.
  private mutating func takeOut(_ refusal: RefuseMessage, at index: Int) {
    let batch = queue[index]
    var events = refusal.events.filter { $0.index >= 0 && $0.index < batch.events }
    if events.isEmpty {
      events = (0..<batch.events).map {
        .init(index: $0, code: refusal.code, text: refusal.text)
      }
    }
    takeOut(events, from: index)
  }

  mutating func takeOut(_ events: [RefuseMessage.Event], from index: Int) {
    beginRound(at: min(index, sent))
    let batch = queue[index]
    let indices = Set(events.map(\.index))
    let kept = batch.keeping { !indices.contains($0) }
    if let kept {
      replace(at: index, by: kept)
    } else {
      _ = remove(at: index)
    }
    actions.append(
      .refused(
        batch.refused(events), cost: batch.cost - (kept?.cost ?? 0),
        row: kept == nil ? batch.row : nil))
    let refusals = batch.refusals(events)
    if !refusals.isEmpty { actions.append(.refusedTickets(refusals)) }
  }
}
