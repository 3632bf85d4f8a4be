internal import BusProtocol
internal import BusTransport
internal import CPlatform
internal import EventJournal
internal import Primitives
internal import Synchronization

/// What the live thread does: reads subscriptions, sends what somebody subscribes to, and a beacon a second
/// for each name whose head is asked for.
struct LiveLoop: ~Copyable {
  /// So many subscriptions that end within a second are no usual change.
  private static let flood = 10_000

  private let socket: Socket
  private let mailbox: Mailbox<LiveGroup?>
  private let shared: LiveThread.Shared
  /// Nil when nobody is asked for a key.
  private var guarded: LiveGuard?
  /// Names whose beacon is asked for and not sent yet.
  private var wantedBeacons: [[UInt8]] = []
  private var poll = PollSet()
  private let handshakes: HandshakeCounts
  private let socketItem: Int
  private let mailboxItem: Int
  private let failureItem: Int
  private var core = LiveCore()
  private var connections = LiveConnections()
  private var givesMemoryBack = false
  private var knownCut: UInt64 = 0
  private var topics: [[UInt8]] = []
  private var frame = Message()
  private var meta: [UInt8] = []
  private var epoch: UInt32
  private var nextBeacon: Int64
  private var isStopped = false

  init(
    socket: consuming Socket, mailbox: Mailbox<LiveGroup?>, shared: LiveThread.Shared,
    guarded: LiveGuard?, handshakes: HandshakeCounts, epoch: UInt32
  ) throws {
    socketItem = poll.add(socket)
    mailboxItem = poll.add(descriptor: mailbox.wake.descriptor)
    failureItem = poll.addConnectionEvents(of: socket)
    self.handshakes = handshakes
    self.socket = socket
    self.mailbox = mailbox
    self.shared = shared
    self.guarded = guarded
    self.epoch = epoch
    nextBeacon = SystemClock.monotonic()
  }

  mutating func run() throws {
    shared.pulse.begin()
    while !isStopped {
      let wait = max(0, (nextBeacon - SystemClock.monotonic()) / 1_000_000)
      try poll.wait(milliseconds: Int(wait) + 1)
      try takeSubscriptions()
      if poll.isReadable(failureItem) { try handshakes.read(socket, .live, using: &frame) }
      if poll.isReadable(mailboxItem) {
        mailbox.wake.clear()
        for group in mailbox.takeAll() {
          guard let group else {
            isStopped = true
            break
          }
          try send(group)
        }
      }
      if SystemClock.monotonic() >= nextBeacon {
        nextBeacon = SystemClock.monotonic() + 1_000_000_000
        endSubscriptions()
        for name in core.beacons { try beacon(name) }
      }
    }
  }

  /// Of connections that have ended. What a flood has left is given back a turn later: libzmq's own tree
  /// may not be cleared yet.
  private mutating func endSubscriptions() {
    if givesMemoryBack { eb_release_freed_memory() }
    let cut = shared.pulse.cut.load(ordering: .relaxed)
    // Of a connection that was cut in the middle of a flood the core may have seen nothing.
    givesMemoryBack = core.end(connections.takeEnded()) > Self.flood || cut != knownCut
    knownCut = cut
  }

  private mutating func takeSubscriptions() throws {
    try readSubscriptions()
    guard !wantedBeacons.isEmpty else { return }
    var names: [[UInt8]] = []
    swap(&names, &wantedBeacons)
    for name in names { try beacon(name) }
  }

  private mutating func readSubscriptions() throws {
    guarded?.refresh()
    while try socket.tryReceive(into: &frame) {
      let source = frame.sourceDescriptor
      let subscription = Socket.subscription(frame.bytes)
      if case .subscribe(let topic)? = subscription { guarded?.look(at: topic, frame, source) }
      _ = try socket.dropRest(&frame)
      // Without a source it is libzmq's own, for a connection that has ended: that is seen once a second.
      if let source, let subscription { take(subscription, from: source) }
    }
    shared.pulse.caughtUp()
  }

  private mutating func take(_ subscription: Socket.Subscription, from source: Int32) {
    guard let connection = connections.number(of: source) else { return }
    switch subscription {
    case .subscribe(let topic):
      let (change, ended) = core.subscribe(topic, by: connection)
      for other in ended { end(connections.descriptor(of: other)) }
      switch change {
      case .none: break
      case .beacon(let name): wantedBeacons.append(name)
      case .refused: end(source)
      }
    case .unsubscribe(let topic): core.unsubscribe(topic, by: connection)
    }
  }

  /// Ends that peer's connection and nobody else's.
  private func end(_ descriptor: Int32?) {
    guard let descriptor else { return }
    shared.refusedSubscriptions.add(1, ordering: .relaxed)
    eb_abort_connection(descriptor)
  }

  private mutating func send(_ group: LiveGroup) throws {
    core.take(group)
    while topics.count < core.names.count { topics.append(core.names[topics.count] + [0]) }
    guard let chunk = group.chunk else { return }
    defer { shared.waitingBytes.subtract(chunk.bytes.count, ordering: .relaxed) }
    for (index, record) in chunk.records.enumerated() {
      if !group.names.hidden.contains(index) {
        try send(record, chunk, Array(group.names[batch: index]))
      }
      // Between batches, so that new subscribers need not wait for the end of a group.
      if index & 63 == 63 { try takeSubscriptions() }
    }
  }

  private mutating func send(
    _ record: JournalRecord, _ chunk: JournalChunk, _ names: [GroupNames.Entry]
  ) throws {
    epoch = record.epoch
    var next = names.map(\.firstSequence)
    guard names.contains(where: { core.isWanted[$0.name] }) else {
      // Nobody asks: only the last sequences matter, for beacons.
      return try skip(record, chunk, names)
    }
    try chunk.withBody(of: record) { bytes in
      let batch = try Batch(checking: bytes, knowsNamesDiffer: true)
      var payloadAt = batch.payloadsStart
      for index in 0..<batch.eventCount {
        let entry = batch.entry(index, in: bytes, payloadAt: &payloadAt)
        let name = names[entry.name].name
        let sequence = next[entry.name]
        next[entry.name] += 1
        core.sent(name, sequence: sequence)
        guard core.isWanted[name] else { continue }
        meta.removeAll(keepingCapacity: true)
        LiveMeta(
          epoch: record.epoch, offset: record.offset + UInt64(entry.distance), sequence: sequence,
          time: record.time
        ).encode(into: &meta)
        try publish(topics[name], bytes.extracting(entry.payload))
      }
    }
  }

  private mutating func skip(
    _ record: JournalRecord, _ chunk: JournalChunk, _ names: [GroupNames.Entry]
  ) throws {
    if names.count == 1 {
      core.sent(names[0].name, sequence: names[0].firstSequence + UInt64(record.count) - 1)
      return
    }
    var counts = [UInt64](repeating: 0, count: names.count)
    try chunk.withBody(of: record) { bytes in
      let batch = try Batch(checking: bytes, knowsNamesDiffer: true)
      for index in 0..<batch.eventCount { counts[batch.nameIndex(of: index, in: bytes)] += 1 }
    }
    for (name, count) in zip(names, counts) where count > 0 {
      core.sent(name.name, sequence: name.firstSequence + count - 1)
    }
  }

  private mutating func publish(_ topic: [UInt8], _ payload: RawSpan) throws {
    if guarded != nil { return try publishGuarded(topic, payload) }
    let topicSpan = unsafe topic.span.bytes
    let metaSpan = unsafe meta.span.bytes
    if try !socket.publish(topicSpan, payload, metaSpan) {
      shared.dropEpisodes.add(1, ordering: .relaxed)
    }
  }

  /// A subscription counts for libzmq before it can be read here, even in the middle of a send: so who
  /// subscribed without the right is cut off when the receivers are settled, and before anything goes out.
  private mutating func publishGuarded(_ topic: [UInt8], _ payload: RawSpan) throws {
    let isFree = try unsafe socket.beginPublishing(topic.span.bytes)
    try readSubscriptions()
    try unsafe socket.finishPublishing(payload, meta.span.bytes, isFree: isFree)
    if !isFree { shared.dropEpisodes.add(1, ordering: .relaxed) }
  }

  private mutating func beacon(_ name: [UInt8]) throws {
    meta.removeAll(keepingCapacity: true)
    core.beacon(name, epoch: epoch, time: SystemClock.realtime()).encode(into: &meta)
    let empty: [UInt8] = []
    try publish(LiveMeta.beaconPrefix + name + [0], unsafe empty.span.bytes)
  }
}
