internal import BusProtocol
internal import BusTransport
internal import Primitives
internal import Synchronization

/// The subscriber's thread: owns the socket and the core.
struct SubscriberLoop: ~Copyable {
  /// How long a broker has to answer a goodbye.
  private static let leaveNanoseconds: Int64 = 500_000_000

  private let shared: SubscriberShared
  private var core: SubscriberCore
  private var connection: BusConnection

  static func start(_ shared: SubscriberShared) throws(BusClientError) {
    do throws(SystemError) {
      try OwnedThread(name: "bus-subscriber") {
        do throws(BusClientError) {
          var loop = try SubscriberLoop(shared)
          try loop.run()
        } catch {
          shared.tell { $0.failure = $0.failure ?? error }
        }
        shared.tell { state in
          state.hasEnded = true
          state.status.isConnected = false
        }
      }.detach()
    } catch {
      throw .system(text: error.description)
    }
  }

  private init(_ shared: SubscriberShared) throws(BusClientError) {
    let configuration = shared.configuration
    var random = SystemRandomNumberGenerator()
    let core = SubscriberCore(
      .init(
        client: configuration.client, name: Array(configuration.name.utf8),
        filters: configuration.filters, start: configuration.start,
        seekGeneration: configuration.seekGeneration, reset: configuration.reset,
        instance: randomIdentity { random.next() },
        creditEvents: UInt64(max(1, configuration.creditEvents)),
        creditBytes: UInt64(max(64 << 10, configuration.creditBytes)),
        stopsAtGap: configuration.onGap == .stop),
      seed: random.next())
    let connection = try BusConnection.open(
      configuration.address, configuration.security, wake: shared.wake)
    self.shared = shared
    self.core = core
    self.connection = connection
  }

  private mutating func run() throws(BusClientError) {
    do throws(TransportError) {
      while core.phase != .ended {
        let now = SystemClock.monotonic()
        try connection.receive(limit: 64) { core.receive($0, at: now) }
        let isClosing = takeRequests()
        if let denial = connection.takeDenial() { core.denied(denial.text, at: now) }
        let due = core.tick(at: now)
        core.grantCredit()
        try perform(core.takeActions())
        if isClosing { return try leave() }
        try connection.wait(until: due)
      }
    } catch {
      throw .system(text: error.description)
    }
  }

  /// What the program wants; true when it closes.
  private mutating func takeRequests() -> Bool {
    let (repeated, reconnects) = (core.repeated, core.reconnects)
    let (taken, commit, isClosing) = shared.state.withLock { state in
      let taken = (state.takenEvents, state.takenBytes)
      state.takenEvents = 0
      state.takenBytes = 0
      state.status.batchesRepeated = repeated
      state.status.reconnects = reconnects
      return (taken, state.commit.take(), state.isClosing)
    }
    core.take(events: taken.0, bytes: taken.1)
    if let commit { core.commit(commit) }
    return isClosing
  }

  /// Lets the name go at once. A socket that is closed drops what it has not sent yet, so it stays until
  /// the broker has answered: it knows the session no more.
  private mutating func leave() throws(TransportError) {
    guard core.session.isLive else { return }
    try connection.send(MessageHeader(.close, token: core.token).message)
    try connection.send(MessageHeader(.ping, token: core.token).message)
    let end = SystemClock.monotonic() + Self.leaveNanoseconds
    let token = core.token
    var isOver = false
    while !isOver, SystemClock.monotonic() < end {
      try connection.receive(limit: 64) { message in
        isOver = isOver || Self.isOver(message, token)
      }
      if !isOver { try connection.wait(until: end) }
    }
  }

  /// Whether the broker says that it does not know the session, or goes itself.
  private static func isOver(_ message: RawSpan, _ token: UInt64) -> Bool {
    do throws(ProtocolError) {
      let header = try MessageHeader(decoding: message)
      return header.verb == .bye || (header.verb == .reset && header.token == token)
    } catch {
      return false
    }
  }

  private mutating func perform(_ actions: [SubscriberAction]) throws(TransportError) {
    for action in actions {
      switch action {
      case .send(let bytes): try connection.send(bytes)
      case .reconnect: try connection.reconnect()
      case .deliver(let batch):
        shared.tell { state in
          state.batches.append(batch)
          state.status.position = batch.end
        }
      case .opened(let opened): enter(opened)
      case .committed(let cursor): shared.tell { $0.status.committed = cursor }
      case .head(let head):
        shared.tell { state in
          state.status.head = head.head
          state.status.lag = head.lag
          state.status.isPaused = head.isPaused
        }
      case .notice(let notice): report(notice)
      case .failed(let error): shared.tell { $0.failure = error }
      }
    }
  }

  private func enter(_ opened: OpenedMessage) {
    let position = core.position
    shared.tell { state in
      state.status.opened = opened
      state.status.isConnected = true
      state.status.denial = nil
      state.status.isPaused = opened.isPaused
      state.status.head = opened.head
      state.status.seekGeneration = opened.seekGeneration
      state.status.position = state.status.position ?? position
    }
  }

  private func report(_ notice: ConnectionNotice) {
    switch notice {
    case .silent, .sessionLost, .absent: shared.tell { $0.status.isConnected = false }
    case .refusedForNow(RefusalCode.denied.rawValue, let text):
      shared.tell { state in
        state.status.denial = text
        state.status.isConnected = false
      }
    case .gap: shared.tell { $0.status.gaps += 1 }
    case .sought(let position, _):
      // What waits lies before the jump: it is not to be handled any more.
      shared.tell { state in
        while let batch = state.batches.popFirst() {
          state.takenEvents += batch.creditEvents
          state.takenBytes += batch.messageBytes
        }
        state.commit = nil
        state.commitGuard.seek(to: position)
        state.status.position = position
      }
    default: break
    }
    let why = BusLink.reason(of: notice, at: shared.configuration.address)
    let report = shared.state.withLock { $0.status.link.take(notice, why: why) }
    shared.configuration.onNotice?(notice)
    if let report { shared.configuration.onReport?(report) }
  }
}
