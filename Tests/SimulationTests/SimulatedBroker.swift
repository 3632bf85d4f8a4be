import BusProtocol
import EventJournal
import JournalTestSupport
import Primitives

@testable import BusBroker

/// The broker's core over the real journal on a disk in memory. What its threads would do waits in
/// queues until the seed says that it is done, or that the process is gone.
struct SimulatedBroker {
  private(set) var storage = FaultyStorage()
  /// What the cursor store holds.
  private(set) var cursors: [[UInt8]: CursorRecord] = [:]
  private(set) var process: Process?
  /// Segments that retention has deleted.
  private(set) var deleted = 0
  private let segmentBytes: Int
  private let tailBytes: Int
  let durability: JournalDurability
  /// Whether old segments go, once the named subscribers have cursors that hold back what they need.
  private let retains: Bool
  private let bug: PlantedBug?

  struct Process {
    var core: BrokerCore
    let writer: JournalWriter<FaultyStorage>
    let journal: Journal<FaultyStorage>
    var writes: [[JournalGroup]] = []
    var reads: [ReadRequest] = []
    var stores: [[CursorChange]] = []
    var nextTick: Int64 = 0
  }

  init(using random: inout SeededRandom, bug: PlantedBug? = nil) {
    self.bug = bug
    segmentBytes = Int.random(in: 500...4000, using: &random)
    tailBytes = Int.random(in: 300...3000, using: &random)
    durability = [.fsync, .fsync, .os, .none].randomElement(using: &random) ?? .fsync
    retains = Int.random(in: 0..<4, using: &random) > 0
  }

  mutating func start(at now: Int64, seed: UInt64) throws {
    setRoom(.max)
    let recovery = try Journal.open(
      storage,
      configuration: JournalConfiguration(
        durability: durability, segmentBytes: segmentBytes, groupBytes: 600), now: now)
    var configuration = BrokerConfiguration(directory: "")
    configuration.tailBytes = tailBytes
    configuration.retentionBytes = 0
    configuration.keepUnreadBytes = .max
    if bug == .deletesUnread {
      configuration.keepUnreadBytes = 0
      configuration.dropUnread = true
    }
    var (names, producers) = try BrokerParts.tables(recovery, configuration)
    if bug == .forgetsWhatProducersSent {
      producers = ProducerTable(
        limit: configuration.maximumProducers, idle: configuration.producerIdle)
    }
    process = Process(
      core: BrokerCore(
        configuration: configuration, description: BrokerDescription(), journal: recovery.core,
        names: names, producers: producers,
        cursors: CursorTable(limit: 100, records: Array(cursors.values)), seed: seed),
      writer: recovery.writer, journal: recovery.journal)
  }

  /// The end of a turn of the bus loop; what it sends goes to `send`, which says whether the peer is
  /// there.
  mutating func turn(at now: Int64, _ send: (Peer, [UInt8]) -> Bool) throws {
    guard var process else { return }
    if now >= process.nextTick {
      process.nextTick = now + 1_000_000_000
      process.core.tick(at: now)
      if retains, cursors.count == 2 {
        let core = process.core
        process.core.retain(
          process.journal.segments(
            head: core.journal.durableHead, lastTime: core.journal.lastTime), at: now)
      }
    }
    process.core.flush()
    while process.core.deliver() {}
    process.core.writeCursors()
    for action in process.core.takeActions() {
      switch action {
      case .send(let peer, let message):
        if !send(peer, message) { process.core.peerLost(peer, isFull: false) }
      case .write(let groups):
        process.writes.append(groups)
        if bug == .acknowledgesBeforeItWrites { process.core.written(groups.count) }
      case .read(let request): process.reads.append(request)
      case .storeCursors(let changes): process.stores.append(changes)
      case .live, .report: break
      }
    }
    self.process = process
  }

  mutating func receive(_ message: [UInt8], from peer: Peer, at now: Int64) {
    unsafe process?.core.receive(message.span.bytes, from: peer, at: now)
  }

  /// The writer thread takes an order. False: the process ended in the middle of it.
  mutating func write() throws -> Bool {
    guard let groups = process?.writes.first, let writer = process?.writer else { return true }
    process?.writes.removeFirst()
    var count = 0
    do throws(JournalError) {
      for group in groups {
        try writer.write(group)
        count += 1
      }
      if bug != .acknowledgesBeforeItWrites { process?.core.written(count) }
    } catch {
      guard error.isRetriable, bug != .acknowledgesBeforeItWrites else { return false }
      process?.core.written(count, failure: "\(error)")
    }
    return true
  }

  /// Whether the reader thread's next work is to delete segments.
  var isAboutToDelete: Bool {
    if case .deleteSegments? = process?.reads.first { true } else { false }
  }

  /// An operator moves a cursor; returns where it is now and the seek's generation.
  mutating func seek(
    _ name: String, to offset: UInt64, at now: Int64
  ) -> (cursor: Position, generation: UInt64)? {
    var admin = AdminMessage(request: 1, action: .seek)
    admin.arguments["name"] = .bytes(Array(name.utf8))
    admin.setSeekTarget(.offset(offset))
    receive(admin.encode(), from: Peer(id: .max), at: now)
    return process?.core.cursors[Array(name.utf8)].map { ($0.cursor, $0.seekGeneration) }
  }

  /// The reader thread answers. False: the process has ended.
  mutating func read() throws -> Bool {
    guard let request = process?.reads.first, let journal = process?.journal else { return true }
    process?.reads.removeFirst()
    switch JournalReading(journal: journal).perform(request) {
    case .delivered(let delivery): process?.core.readDone(delivery)
    case .deleted(let segments, let earliest):
      deleted += segments
      process?.core.deleted(segments: segments, earliest: earliest)
    case .failed(let text):
      try require(text.contains("stopped"), "read: \(text)")
      return false
    default: throw SimulationFailure(description: "an answer to what nobody asked")
    }
    return true
  }

  /// The cursor store's thread has committed a transaction.
  mutating func store() {
    guard let changes = process?.stores.first else { return }
    process?.stores.removeFirst()
    if bug != .losesCursors { apply(changes) }
    process?.core.stored(changes, failure: nil)
  }

  private mutating func apply(_ changes: [CursorChange]) {
    for case .put(let record) in changes { cursors[record.name] = record }
  }

  /// The next operations on the disk are the last ones.
  func stopSoon(using random: inout SeededRandom) {
    storage.setFaults(
      .init(
        stopsBefore: storage.operations + Int.random(in: 0...4, using: &random),
        skipsSyncs: bug == .neverSynchronizes))
  }

  func setRoom(_ bytes: Int) {
    storage.setFaults(.init(room: bytes, skipsSyncs: bug == .neverSynchronizes))
  }

  /// The process is killed, or its machine loses power where the durability survives that. A
  /// transaction under way may be done or not.
  mutating func crash(using random: inout SeededRandom) {
    for changes in process?.stores ?? [] where Bool.random(using: &random) { apply(changes) }
    process = nil
    storage =
      durability == .fsync && Bool.random(using: &random)
      ? storage.afterPowerLoss(using: &random) : storage.afterKill()
  }

  /// An orderly end; what clients are told goes to `send`.
  mutating func stop(at now: Int64, _ send: (Peer, [UInt8]) -> Bool) throws {
    setRoom(.max)
    process?.core.drain()
    while process?.core.isDrained == false {
      // A tick tries again what a full disk refused.
      process?.nextTick = 0
      try turn(at: now, send)
      try require(try write(), "a write failed on a good disk")
    }
    process?.core.sayGoodbye()
    try turn(at: now, send)
    while process?.stores.isEmpty == false { store() }
    if let group = process?.core.journal.takeClosingGroup(time: now) {
      try process?.writer.write(group)
    }
    process = nil
    storage = storage.afterKill()
  }
}
