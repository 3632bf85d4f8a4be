internal import BusProtocol
internal import EventJournal
internal import Primitives

/// The broker's state and all its decisions: who may publish, what is stored, what goes to whom.
///
/// No I/O, clock, lock or thread: messages and times come in, `BrokerAction`s come out, and the shell
/// (`Broker`) performs them. What was appended is visible to nobody until the shell reports its group
/// written: that is the whole durability rule, and it lives in `BrokerCore+Durability.swift`.
struct BrokerCore {
  let configuration: BrokerConfiguration
  var description: BrokerDescription
  /// Of the journal, from the root, for `status`; set by the shell.
  var directory = ""
  var journal: JournalCore
  var names: NameTable
  var producers: ProducerTable
  var cursors: CursorTable
  var cursorReplies = CursorReplies()
  var metrics = BrokerMetrics()
  var refusals = RefusalCounts()

  var producerSessions: [UInt64: ProducerSession] = [:]
  var subscriberSessions: [UInt64: SubscriberSession] = [:]
  /// The live session of each producer and of each named subscriber: who is fenced by a newcomer.
  var tokenOfProducer: [JournalProducer: UInt64] = [:]
  var tokenOfSubscriber: [[UInt8]: UInt64] = [:]
  /// Whose turn it is to be delivered to; rotates, so that all get their share.
  var deliveryOrder: [UInt64] = []

  var openGroup = OpenGroup()
  var pending: [PendingGroup] = []
  /// Groups handed to the writer thread and not yet reported back.
  var writing = 0
  var tail: Tail
  /// How many names the live feed's thread was told.
  var namesKnownToLive = 0
  /// Set by the shell while the live feed's thread has too much before it.
  var liveIsBehind = false
  /// Whether the live feed must be told last sequences; true at the start.
  var liveMissedSome = true
  /// Batch bytes taken from all producers and plain sockets, not yet durable.
  var bytesInFlight = 0
  var retention: RetentionState
  var isDraining = false
  var elsewhere = CountsElsewhere()
  /// Who may do what; nil: the broker asks nobody for a key.
  var access: AccessTable?
  /// Whose message is being handled; nil for a key that is not authorised (any more).
  var sender: AccessHolder?
  /// Why nothing can be written now; nil when all is well.
  var writeTrouble: String?

  private var tokens: SeededRandom
  var actions: [BrokerAction] = []

  init(
    configuration: BrokerConfiguration, description: BrokerDescription, journal: JournalCore,
    names: NameTable, producers: ProducerTable, cursors: CursorTable, seed: UInt64
  ) {
    self.configuration = configuration
    self.description = description
    self.journal = journal
    self.names = names
    self.producers = producers
    self.cursors = cursors
    tail = Tail(maximumBytes: configuration.tailBytes, first: journal.head)
    retention = RetentionState()
    tokens = SeededRandom(seed: seed)
  }

  /// What was decided since the last call, in order.
  mutating func takeActions() -> [BrokerAction] {
    var taken: [BrokerAction] = []
    swap(&taken, &actions)
    return taken
  }

  mutating func newToken() -> UInt64 {
    while true {
      let token = tokens.next()
      if token != 0, producerSessions[token] == nil, subscriberSessions[token] == nil {
        return token
      }
    }
  }

  /// Takes one message from the bus socket. Never throws: what cannot be understood is counted, named
  /// and answered where an answer can help.
  ///
  /// - Parameter sender: the holder of the peer's key, where the broker asks for keys. It matters to
  ///   requests that open something; a session belongs to its peer, and so to the same key.
  mutating func receive(
    _ message: RawSpan, from peer: Peer, by sender: AccessHolder? = nil, at now: Int64
  ) {
    self.sender = sender
    metrics.messagesReceived += 1
    do {
      let header = try MessageHeader(decoding: message)
      try dispatch(header, message, from: peer, at: now)
    } catch {
      drop(error, from: peer)
    }
  }

  private mutating func dispatch(
    _ header: MessageHeader, _ message: RawSpan, from peer: Peer, at now: Int64
  ) throws(ProtocolError) {
    switch header.verb {
    case .publish: try publish(header, message, from: peer, at: now)
    case .credit: try credit(header, message, from: peer, at: now)
    case .commit: try commit(header, message, from: peer, at: now)
    case .ping: ping(header, from: peer, at: now)
    case .hello: try hello(message, from: peer, at: now)
    case .open: try open(message, from: peer, at: now)
    case .fetch: try fetch(message, from: peer)
    case .admin: try administer(message, from: peer, at: now)
    case .close: close(header, from: peer)
    default: throw .unknownVerb(header.verb.rawValue)
    }
  }

  private mutating func ping(_ header: MessageHeader, from peer: Peer, at now: Int64) {
    guard touch(header.token, peer: peer, at: now) else { return reset(header.token, peer) }
    actions.append(.send(peer, MessageHeader(.pong, token: header.token).message))
  }

  /// Notes a sign of life; false when the token names no session of this peer.
  mutating func touch(_ token: UInt64, peer: Peer, at now: Int64) -> Bool {
    if producerSessions[token]?.peer == peer {
      producerSessions[token]!.lastSeen = now
      return true
    }
    if subscriberSessions[token]?.peer == peer {
      subscriberSessions[token]!.lastSeen = now
      return true
    }
    return false
  }

  /// Tells a peer that its session is not known, so that it says HELLO or OPEN again.
  mutating func reset(_ token: UInt64, _ peer: Peer) {
    actions.append(.send(peer, MessageHeader(.reset, token: token).message))
  }

  mutating func refuse(
    _ code: RefusalCode, _ text: String, token: UInt64, peer: Peer
  ) {
    refusals.count(code, on: .bus, events: code == .denied ? 1 : 0, sample: text)
    var message = RefuseMessage(token: token, code: code, text: text)
    if code == .denied { message.retryAfter = Self.deniedRetry }
    actions.append(.send(peer, message.encode()))
  }

  /// A frame that is no message: counted, with a sample.
  private mutating func drop(_ error: ProtocolError, from peer: Peer) {
    metrics.messagesDropped += 1
    if case .body(let verb, let text) = error, Self.isAnswered(verb) {
      return refuse(.badRequest, text, token: 0, peer: peer)
    }
    refusals.count(error.code, on: .bus, events: 0, sample: error.description)
    switch error {
    case .version:
      // A BYE of our version is the one thing that a client of another may understand.
      actions.append(.send(peer, MessageHeader(.bye).message))
    case .unknownVerb: reset(0, peer)
    case .body, .batch, .tooShort, .notThisProtocol: break
    }
  }

  private static func isAnswered(_ verb: Verb) -> Bool {
    switch verb {
    case .hello, .open, .fetch, .admin: true
    default: false
    }
  }

  /// A message of more than one frame, or from a peer with a routing id of its own.
  mutating func dropped(sample: String) {
    metrics.messagesReceived += 1
    metrics.messagesDropped += 1
    refusals.count(.badFrame, on: .bus, events: 0, sample: sample)
  }
}

extension ProtocolError {
  /// Under which code it is counted.
  var code: RefusalCode {
    switch self {
    case .version: .unsupportedVersion
    case .body: .badRequest
    case .tooShort, .notThisProtocol, .unknownVerb, .batch: .badFrame
    }
  }
}
