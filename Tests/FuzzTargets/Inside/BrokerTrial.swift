#if DEBUG || FUZZING
  @testable internal import BusBroker
  internal import BusProtocol
  internal import EventJournal
  internal import JournalTestSupport
  internal import Primitives

  /// A broker's core over a journal in memory. What its threads would do is done at once, but for the
  /// disk while that is slow.
  struct BrokerTrial {
    var core: BrokerCore
    static let start: Int64 = 1_000_000_000_000
    var now = Self.start
    var isDiskSlow = false
    /// The last that each peer was given.
    private(set) var tokens: [Peer: UInt64] = [:]
    private let recovery: JournalRecovery<FaultyStorage>
    private var written = 0

    init(_ cursors: [CursorRecord]) throws(Violation) {
      let start = Self.start
      let recovery = try accepted("a journal") { () throws(JournalError) in
        try Journal.open(FaultyStorage(), configuration: fuzzedJournal, now: start)
      }
      var configuration = BrokerConfiguration(directory: "")
      configuration.tailBytes = 300
      self.recovery = recovery
      core = BrokerCore(
        configuration: configuration, description: BrokerDescription(), journal: recovery.core,
        names: NameTable(limit: 8), producers: ProducerTable(limit: 8, idle: .seconds(1)),
        cursors: CursorTable(limit: 4, records: cursors), seed: 1)
    }

    mutating func take(_ message: [UInt8], from peer: Peer) throws(Violation) {
      unsafe core.receive(message.span.bytes, from: peer, at: now)
      try settle()
    }

    mutating func tick() throws(Violation) {
      core.tick(at: now)
      let journal = recovery.journal
      core.retain(
        journal.segments(head: core.journal.durableHead, lastTime: core.journal.lastTime), at: now)
      _ = core.status(at: now)
      try settle()
    }

    /// Until nothing is left to do.
    mutating func settle() throws(Violation) {
      for _ in 0..<50 {
        core.flush()
        while core.deliver() {}
        core.writeCursors()
        let actions = core.takeActions()
        guard !actions.isEmpty || written > 0 && !isDiskSlow else { return }
        for action in actions { try perform(action) }
        if written > 0, !isDiskSlow {
          let count = written
          written = 0
          core.written(count)
        }
      }
      throw Violation(description: "it finds no end")
    }

    private mutating func perform(_ action: BrokerAction) throws(Violation) {
      switch action {
      case .send(let peer, let message):
        let header = try accepted("what it sent") { () throws(ProtocolError) in
          try checkAnswer(message)
        }
        if header.verb == .welcome || header.verb == .opened { tokens[peer] = header.token }
      case .write(let groups):
        try accepted("the disk") { () throws(JournalError) in
          for group in groups { try recovery.writer.write(group) }
        }
        written = groups.count
      case .read(let request): take(JournalReading(journal: recovery.journal).perform(request))
      case .storeCursors(let changes): core.stored(changes, failure: nil)
      case .live, .report: break
      }
    }

    private mutating func take(_ result: ReadResult) {
      switch result {
      case .delivered(let delivery): core.readDone(delivery)
      case .fetched(let peer, let message, _): core.actions.append(.send(peer, message))
      case .open(let open, let peer, let holder, let offset):
        core.finishOpen(
          open, from: peer, by: holder, at: now, timeOffset: min(offset, core.journal.durableHead))
      case .seek(let admin, let peer, let offset):
        core.seek(admin, to: core.place(min(offset, core.journal.durableHead)), peer)
      case .deleted(let segments, let earliest):
        core.deleted(segments: segments, earliest: earliest)
      case .failed(let text): core.readFailed(text)
      }
    }
  }

  /// Reads a message as a client does.
  private func checkAnswer(_ message: [UInt8]) throws(ProtocolError) -> MessageHeader {
    let span = unsafe message.span.bytes
    let header = try MessageHeader(decoding: span)
    switch header.verb {
    case .welcome: _ = try WelcomeMessage(decoding: span)
    case .acknowledge: _ = try AcknowledgeMessage(decoding: span)
    case .refuse: _ = try RefuseMessage(decoding: span)
    case .opened: _ = try OpenedMessage(decoding: span)
    case .committed: _ = try CommitMessage(decoding: span)
    case .head: _ = try HeadMessage(decoding: span)
    case .gap: _ = try GapMessage(decoding: span)
    case .reply: _ = try ReplyMessage(decoding: span)
    case .batch, .fetched:
      for delivery in try DeliveryMessage(decoding: span).deliveries {
        _ = try Batch(checking: span.extracting(delivery.range))
      }
    default: break
    }
    return header
  }
#endif
