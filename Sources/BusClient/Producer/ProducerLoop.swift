internal import BusProtocol
internal import BusTransport
internal import Primitives
internal import Synchronization

/// The producer's thread: owns the socket, the core and the spool, and moves what they have to say.
struct ProducerLoop: ~Copyable {
  let shared: ProducerShared
  var core: ProducerCore
  var connection: BusConnection
  var spool: Spool?
  let linger: Int64
  var settled = ProducerSettled()
  var failure: BusClientError?
  var isSpoolFull = false

  static func start(_ shared: ProducerShared) throws(BusClientError) {
    var random = SystemRandomNumberGenerator()
    var identity = shared.configuration.identity.bytes { random.next() }
    if case .spill(let path, _) = shared.configuration.overflow {
      // Looked at here, so that whoever makes the producer learns of a file that cannot be used.
      let spool = try Spool.open(path, maximumBytes: 0)
      identity = try spool.adopt(identity, mayChange: shared.configuration.identity.isRandom)
      shared.state.withLock { state in
        state.counters.published = UInt64(spool.events)
        state.counters.inSpool = UInt64(spool.events)
      }
    }
    let producer = identity
    do throws(SystemError) {
      try OwnedThread(name: "bus-producer") {
        do throws(BusClientError) {
          var loop = try ProducerLoop(shared, identity: producer)
          loop.run()
        } catch {
          ProducerLoop.end(shared, failure: error)
        }
      }.detach()
    } catch {
      throw .system(text: error.description)
    }
  }

  private init(_ shared: ProducerShared, identity: [UInt8]) throws(BusClientError) {
    var random = SystemRandomNumberGenerator()
    let configuration = shared.configuration
    let core = ProducerCore(
      .init(
        client: configuration.client, producer: identity,
        instance: randomIdentity { random.next() },
        maximumInFlight: max(1, configuration.maximumInFlight),
        mayForget: configuration.mayForget),
      seed: random.next())
    let spool = try Self.openSpool(configuration.overflow)
    let connection = try BusConnection.open(
      configuration.address, configuration.security, wake: shared.wake)
    self.shared = shared
    self.core = core
    self.connection = connection
    self.spool = spool
    linger = max(0, configuration.linger.nanoseconds)
  }

  private static func openSpool(_ overflow: ProducerOverflow) throws(BusClientError) -> Spool? {
    guard case .spill(let path, let bytes) = overflow else { return nil }
    return try Spool.open(path, maximumBytes: bytes)
  }

  private mutating func run() {
    do throws(TransportError) {
      while try turn() {}
    } catch {
      failure = .system(text: error.description)
    }
    finish()
  }

  /// One round of the loop; false when it is over.
  private mutating func turn() throws(TransportError) -> Bool {
    var now = SystemClock.monotonic()
    try connection.receive(limit: 1000) { core.receive($0, at: now) }
    if let denial = connection.takeDenial() { core.denied(denial.text, at: now) }
    let due = core.tick(at: now)
    takeBatches(at: now)
    try send(at: now)
    try perform(core.takeActions())
    now = SystemClock.monotonic()
    guard let until = settle(at: now, core: due) else { return false }
    try connection.wait(until: until)
    return true
  }

  private mutating func send(at now: Int64) throws(TransportError) {
    var more = true
    while more {
      more = try core.sendNext(at: now) { bytes throws(TransportError) in
        try connection.send(bytes)
      }
    }
  }

  /// Moves closed batches into the core, or into the spool when memory is short.
  private mutating func takeBatches(at now: Int64) {
    let hurries = core.isLive && core.queue.isEmpty && (spool?.isDrained ?? true)
    let batches = shared.state.withLock { state -> [OutgoingBatch] in
      if hurries || now >= state.openedAt + linger { state.closeBatch() }
      guard !state.closed.isEmpty else { return [] }
      var taken: [OutgoingBatch] = []
      swap(&taken, &state.closed)
      return taken
    }
    for batch in batches { store(batch) }
    loadFromSpool()
  }

  private mutating func store(_ batch: OutgoingBatch) {
    let configuration = shared.configuration
    let isCrowded =
      core.queuedCost + batch.cost > configuration.maximumBytes / 2
      || core.queuedEvents + batch.events > configuration.maximumEvents / 2
    // What comes after spooled events waits behind them.
    let isBehind = !(spool?.isDrained ?? true)
    // Somebody waits for its receipt, which the spool does not keep.
    guard batch.tickets.isEmpty else { return core.enqueue(batch) }
    guard isCrowded || isBehind, let row = spool?.append(batch) else { return core.enqueue(batch) }
    guard row else {
      // The disk or the file is full: it stays in memory, and publishers are told at the bound.
      isSpoolFull = true
      return core.enqueue(batch)
    }
    settled.spilled += batch.events
    settled.events += batch.events
    settled.bytes += batch.cost
  }

  private mutating func loadFromSpool() {
    guard core.isLive, core.unsent < 16, !(spool?.isDrained ?? true) else { return }
    let last = core.lastSequence
    for batch in spool?.load(limit: 16, after: last) ?? [] { core.enqueue(batch) }
    guard let damage = spool?.takeDamage() else { return }
    settled.damaged += damage.events
    shared.configuration.onReport?(damage.report)
  }
}
