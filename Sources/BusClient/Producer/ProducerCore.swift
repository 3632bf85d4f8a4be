internal import BusProtocol
internal import Primitives

/// A producer's session with the broker and everything that is not acknowledged yet.
///
/// No I/O, clock or lock: messages and monotonic times come in, `ProducerAction`s come out. Batches
/// stand in one queue in the order they were published; the first `sent` of them are on their way in
/// this `round`. A refusal or a new session begins a round anew from the batch concerned (go back N),
/// and each batch names the one before it, so that the broker sees a hole whatever was lost.
struct ProducerCore {
  struct Settings {
    var client: String
    var producer: [UInt8]
    var instance: [UInt8]
    var maximumInFlight = 256
    var mayForget = false
  }

  let settings: Settings
  var session = SessionClock()
  var token: UInt64 = 0
  var broker: BrokerDescription?
  var window = 0
  var queue = Queue<OutgoingBatch>()
  /// How many at the queue's front were sent in this round, and their bytes.
  var sent = 0
  var bytesInFlight = 0
  var round: UInt32 = 0
  /// The last sequence that is known to be stored: what the queue's first batch follows.
  var stored: UInt64 = 0
  /// The highest sequence given to a batch.
  var lastSequence: UInt64 = 0
  /// No batch is sent before this time, since the broker asked to wait.
  var resumeAt: Int64 = 0
  var random: SeededRandom
  var resentEvents: UInt64 = 0
  var reconnects: UInt64 = 0
  /// Bytes of the batches in the queue.
  var queuedCost = 0
  var queuedEvents = 0
  var messagesIgnored: UInt64 = 0
  var actions: [ProducerAction] = []

  init(_ settings: Settings, seed: UInt64) {
    self.settings = settings
    random = SeededRandom(seed: seed)
  }

  var phase: SessionClock.Phase { session.phase }
  var isLive: Bool { session.isLive }
  var unsent: Int { queue.count - sent }

  mutating func takeActions() -> [ProducerAction] {
    var taken: [ProducerAction] = []
    swap(&taken, &actions)
    return taken
  }

  /// Puts a batch behind all others.
  mutating func enqueue(_ batch: OutgoingBatch) {
    guard phase != .ended else { return }
    guard let batch = trimmed(batch) else { return }
    if batch.sequence != 0 {
      precondition(
        batch.sequence > lastSequence, "sequence \(batch.sequence) after \(lastSequence)")
      lastSequence = batch.sequence
    }
    queuedCost += batch.cost
    queuedEvents += batch.events
    queue.append(batch)
    if broker != nil { fit(from: queue.count - 1) }
  }

  /// Offers the next batch that may go out now; `send` says whether the socket took it. Returns whether
  /// it is worth asking again.
  mutating func sendNext<E: Error>(
    at now: Int64, _ send: (RawSpan) throws(E) -> Bool
  ) throws(E) -> Bool {
    guard phase == .live, now >= resumeAt, sent < queue.count, sent < settings.maximumInFlight
    else { return false }
    let size = queue[sent].batchBytes
    guard sent == 0 || bytesInFlight + size <= window else { return false }
    if queue[sent].sequence == 0 { queue[sent].sequence = nextSequence() }
    if queue[sent].wasSent { resentEvents += UInt64(queue[sent].events) }
    let previous = sent == 0 ? stored : queue[sent - 1].sequence
    queue[sent].stamp(token: token, previous: previous, round: round)
    let message = queue[sent].message
    guard try unsafe send(message.span.bytes) else { return false }
    sent += 1
    bytesInFlight += size
    return true
  }

  /// The number of a batch that is about to be sent for the first time.
  mutating func nextSequence() -> UInt64 {
    lastSequence += 1
    return lastSequence
  }

  /// Does what is due, and says when it must be called again.
  mutating func tick(at now: Int64) -> Int64 {
    while true {
      switch session.due(at: now) {
      case .greet: greet(at: now)
      case .reconnect(let missed): reconnect(at: now, missed: missed)
      case .tellAbsence: actions.append(.notice(.absent))
      case .ping: actions.append(.send(MessageHeader(.ping, token: token).message))
      case .nothing(let until):
        return isLive && resumeAt > now && sent < queue.count ? min(until, resumeAt) : until
      }
    }
  }

  mutating func greet(at now: Int64) {
    actions.append(
      .send(
        HelloMessage(
          client: settings.client, producer: settings.producer, instance: settings.instance,
          mayForget: settings.mayForget
        ).encode()))
    session.greeted(at: now)
  }

  mutating func reconnect(at now: Int64, missed: Int) {
    if missed > 0 { actions.append(.notice(.silent(missedHeartbeats: missed))) }
    reconnects += 1
    actions.append(.reconnect)
    beginRound(at: 0)
    greet(at: now)
  }

  /// Everything from the batch at `index` on is to be sent again.
  mutating func beginRound(at index: Int) {
    round &+= 1
    while sent > index {
      sent -= 1
      bytesInFlight -= queue[sent].batchBytes
    }
  }

  /// The connection was not let in. Asked with each turn; tells it once a connection.
  mutating func denied(_ text: String, at now: Int64) {
    guard phase != .ended else { return }
    beginRound(at: 0)
    actions.append(.notice(.refusedForNow(code: RefusalCode.denied.rawValue, text: text)))
    session.denied(at: now, using: &random)
  }

  mutating func end(_ error: BusClientError) {
    session.end()
    actions.append(.failed(error))
  }
}
