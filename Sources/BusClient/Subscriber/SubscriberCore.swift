internal import BusProtocol
internal import Primitives

/// What the subscriber's core wants done.
enum SubscriberAction {
  case send([UInt8])
  /// Close the socket with all it still holds, and make a new one.
  case reconnect
  case deliver(EventBatch)
  case opened(OpenedMessage)
  case committed(Position)
  case head(HeadMessage)
  case notice(ConnectionNotice)
  case failed(BusClientError)
}

/// A durable subscriber's session: where it is, what it may be sent, and what came.
///
/// No I/O, clock or lock. After each new session it goes on where it was: a named one opens at the
/// broker's cursor, since only what is committed may be there, and leaves out what it gave out already.
/// One without a name opens at its own position, and so does a named one that began elsewhere than at
/// the cursor and has committed nothing yet, since the broker's cursor is another's until then.
struct SubscriberCore {
  struct Settings {
    var client: String
    var name: [UInt8]
    var filters: [NameFilter]
    var start: StartPosition
    var seekGeneration: UInt64?
    var reset: Bool
    var instance: [UInt8]
    var creditEvents: UInt64
    var creditBytes: UInt64
    var stopsAtGap: Bool
  }

  let settings: Settings
  var session = SessionClock()
  var token: UInt64 = 0
  var position: Position?
  var generation: UInt64?
  /// The journal's newest epoch when the session was opened.
  var lastEpoch: UInt32 = 0
  var random: SeededRandom
  var pendingGap: SubscriberGap?
  /// The operator's seek that the next batch tells of.
  var pendingSeek: EventBatch.Seek?
  /// Whether the sink's own cursor was compared with an operator's seek.
  var hasComparedCursor = false
  /// Whether the broker's cursor of this name is where this subscriber is, up to what it committed.
  var followsCursor: Bool
  /// Whether the last OPEN asked for the broker's cursor.
  var askedForCursor = false

  /// What came since OPEN, and of all that ever came what the program has not taken yet.
  var receivedEvents: UInt64 = 0
  var receivedBytes: UInt64 = 0
  var waitingEvents: UInt64 = 0
  var waitingBytes: UInt64 = 0
  var grantedEvents: UInt64 = 0
  var grantedBytes: UInt64 = 0

  var wantedCommit: Position?
  var repeated: UInt64 = 0
  var reconnects: UInt64 = 0
  var messagesIgnored: UInt64 = 0
  var actions: [SubscriberAction] = []

  init(_ settings: Settings, seed: UInt64) {
    self.settings = settings
    random = SeededRandom(seed: seed)
    if case .cursor = settings.start { followsCursor = true } else { followsCursor = false }
  }

  var phase: SessionClock.Phase { session.phase }

  mutating func takeActions() -> [SubscriberAction] {
    var taken: [SubscriberAction] = []
    swap(&taken, &actions)
    return taken
  }

  /// Does what is due, and says when it must be called again.
  mutating func tick(at now: Int64) -> Int64 {
    while true {
      switch session.due(at: now) {
      case .greet: open(at: now)
      case .reconnect(let missed): reconnect(at: now, missed: missed)
      case .tellAbsence: actions.append(.notice(.absent))
      case .ping: actions.append(.send(MessageHeader(.ping, token: token).message))
      case .nothing(let until): return until
      }
    }
  }

  private var start: StartPosition {
    guard !settings.name.isEmpty else {
      return position.map { .position($0) } ?? settings.start
    }
    if let position {
      return followsCursor ? .cursor(otherwise: .position(position)) : .position(position)
    }
    if settings.seekGeneration != nil, !hasComparedCursor, case .position = settings.start {
      return .cursor(otherwise: settings.start)
    }
    return settings.start
  }

  mutating func open(at now: Int64) {
    let start = start
    if case .cursor = start { askedForCursor = true } else { askedForCursor = false }
    actions.append(
      .send(
        OpenMessage(
          client: settings.client, name: settings.name, filters: settings.filters, start: start,
          instance: settings.instance, reset: settings.reset
        ).encode()))
    session.greeted(at: now)
  }

  private mutating func reconnect(at now: Int64, missed: Int) {
    if missed > 0 { actions.append(.notice(.silent(missedHeartbeats: missed))) }
    reconnects += 1
    actions.append(.reconnect)
    open(at: now)
  }

  /// The program took a batch: its credit is given back.
  mutating func take(events: Int, bytes: Int) {
    waitingEvents -= UInt64(events)
    waitingBytes -= UInt64(bytes)
  }

  /// Grants what the program has room for, when it is worth a message: a quarter of the credit, but well
  /// before a broker with many subscribers waits for it.
  mutating func grantCredit() {
    guard session.isLive else { return }
    let events = receivedEvents + settings.creditEvents - min(settings.creditEvents, waitingEvents)
    let bytes = receivedBytes + settings.creditBytes - min(settings.creditBytes, waitingBytes)
    guard
      grantedBytes == 0 || bytes >= grantedBytes + Self.creditStep(of: settings.creditBytes)
        || events >= grantedEvents + settings.creditEvents / 4
    else { return }
    grantedEvents = max(grantedEvents, events)
    grantedBytes = max(grantedBytes, bytes)
    actions.append(
      .send(CreditMessage(events: grantedEvents, bytes: grantedBytes).encode(token: token)))
  }

  /// Bytes taken by the program that are worth a CREDIT.
  static func creditStep(of bytes: UInt64) -> UInt64 {
    min(bytes / 4, UInt64(CreditMessage.leastShare) / 2)
  }

  /// Asks the broker to keep a cursor; the latest wins, and is asked for again in a new session.
  mutating func commit(_ cursor: Position) {
    wantedCommit = cursor
    guard session.isLive, !settings.name.isEmpty else { return }
    actions.append(.send(CommitMessage(cursor: cursor).encode(.commit, token: token)))
  }

  /// The connection was not let in. Asked with each turn; tells it once a connection.
  mutating func denied(_ text: String, at now: Int64) {
    guard phase != .ended else { return }
    actions.append(.notice(.refusedForNow(code: RefusalCode.denied.rawValue, text: text)))
    session.denied(at: now, using: &random)
  }

  mutating func end(_ error: BusClientError) {
    session.end()
    actions.append(.failed(error))
  }
}
