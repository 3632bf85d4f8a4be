internal import BusProtocol
internal import BusTransport
internal import EventJournal
internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A broker's parts, opened in the order in which they depend on each other: the journal with its
/// lock first, then the tables from it, the cursors, the other sockets, and last the bus.
struct BrokerParts: Sendable {
  let configuration: BrokerConfiguration
  let core: BrokerCore
  let context: ZeroMQContext
  /// Nil when nobody is asked for a key.
  let access: AccessThread?
  let handshakes: HandshakeCounts
  let journal: Journal<DirectoryStorage>
  let events: Mailbox<BrokerEvent>
  let writer: WriterThread<DirectoryStorage>
  let reader: ReaderThread<DirectoryStorage>
  let cursors: CursorThread
  let live: LiveThread
  let plain: PlainThread

  init(
    _ wanted: BrokerConfiguration, version: String, events: Mailbox<BrokerEvent>,
    report: @escaping @Sendable (OperatorReport) -> Void
  ) throws {
    var configuration = wanted
    let (recovery, cursors) = try Self.recover(configuration, results: events, report)
    if let reason = recovery.newEpoch, reason == .copied || reason == .wentBack {
      report(
        OperatorReport(
          .warning, "journal_epoch",
          "the journal begins a new epoch at offset \(recovery.core.head): \(reason.rawValue)"
        ))
    }
    if configuration.keepUnreadBytes == 0 {
      configuration.keepUnreadBytes = try FreeSpace.bytes(at: configuration.directory) / 2
    }
    let (names, producers) = try Self.tables(recovery, configuration)

    context = try ZeroMQContext()
    // Before any socket binds: without it libzmq would let everybody in.
    access =
      configuration.asksForKeys
      ? try AccessThread(
        context: context, directory: configuration.directory, results: events, report: report)
      : nil
    handshakes = HandshakeCounts(asksForKeys: configuration.asksForKeys, report)
    live = try LiveThread(
      context: context, address: configuration.liveAddress, access: access,
      handshakes: handshakes, epoch: recovery.core.epoch, results: events)
    plain = try PlainThread(
      context: context, publishAddress: configuration.publishAddress,
      pushAddress: configuration.pushAddress, access: access, handshakes: handshakes,
      limits: configuration.limits, results: events)
    writer = try WriterThread(writer: recovery.writer, results: events)
    reader = try ReaderThread(journal: recovery.journal, results: events)

    var description = BrokerDescription()
    description.version = version
    description.run = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
    description.durability = configuration.durability.rawValue
    description.limits = configuration.limits
    description.liveAddress = live.address
    description.publishAddress = plain.publishAddress
    description.pushAddress = plain.pushAddress
    var core = BrokerCore(
      configuration: configuration, description: description, journal: recovery.core,
      names: names, producers: producers,
      cursors: CursorTable(limit: configuration.maximumSubscribers, records: cursors.records),
      seed: .random(in: .min ... .max))
    core.directory = Self.fromRoot(configuration.directory)
    self.core = core
    self.configuration = configuration
    self.events = events
    self.cursors = cursors
    journal = recovery.journal
  }

  /// Opens the journal, and the cursors under its lock. Where one is beyond its end, the journal is older than
  /// what a subscriber has read: it is opened once more, with a new epoch.
  private static func recover(
    _ configuration: BrokerConfiguration, results: Mailbox<BrokerEvent>,
    _ report: (OperatorReport) -> Void
  ) throws -> (JournalRecovery<DirectoryStorage>, CursorThread) {
    var journal = JournalConfiguration(
      durability: configuration.durability, segmentBytes: configuration.segmentBytes,
      groupBytes: 2 << 20)
    while true {
      let recovery = try Journal.open(
        DirectoryStorage(creating: configuration.directory), configuration: journal,
        now: SystemClock.realtime())
      // Once it is cut, the second opening finds it whole.
      if let cut = recovery.cut {
        report(OperatorReport(.warning, "journal_cut", "\(cut)"))
      }
      let cursors = try CursorThread(directory: configuration.directory, results: results)
      let head = Position(epoch: recovery.core.epoch, offset: recovery.core.head)
      let isAhead = cursors.records.contains { $0.cursor > head }
      guard isAhead, !journal.wentBack else { return (recovery, cursors) }
      journal.wentBack = true
    }
  }

  /// The path as every process of this machine can follow it, whatever directory it runs in.
  private static func fromRoot(_ path: String) -> String {
    guard let found = unsafe realpath(path, nil) else { return "" }
    defer { unsafe free(found) }
    return unsafe String(cString: found)
  }

  /// The tables of names and producers: the newest snapshot, and what was appended since.
  static func tables<Storage: JournalStorage>(
    _ recovery: JournalRecovery<Storage>, _ configuration: BrokerConfiguration
  ) throws -> (NameTable, ProducerTable) {
    var names = NameTable(limit: configuration.maximumNames)
    var producers = ProducerTable(
      limit: configuration.maximumProducers, idle: configuration.producerIdle)
    try BrokerSnapshot.restore(recovery.snapshot, names: &names, producers: &producers)
    var failure: ProtocolError?
    try recovery.replay { chunk in
      for record in chunk.records where failure == nil {
        chunk.withBody(of: record) { body in
          do throws(ProtocolError) {
            try replay(record, body, &names, &producers)
          } catch {
            failure = error
          }
        }
      }
    }
    if let failure { throw failure }
    return (names, producers)
  }

  private static func replay(
    _ record: JournalRecord, _ body: RawSpan, _ names: inout NameTable,
    _ producers: inout ProducerTable
  ) throws(ProtocolError) {
    let batch = try Batch(checking: body, knowsNamesDiffer: true)
    if record.producer != .none {
      producers.took(
        record.producer, sequence: record.sequence, events: record.count, at: record.time)
    }
    guard !batch.isAddressed else { return }
    var counts = [Int](repeating: 0, count: batch.nameCount)
    if batch.nameCount == 1 {
      counts[0] = batch.eventCount
    } else {
      for index in 0..<batch.eventCount { counts[batch.nameIndex(of: index, in: body)] += 1 }
    }
    for (range, count) in zip(batch.nameRanges(in: body), counts) {
      let id = names.internStored(body.extracting(range))
      _ = names.take(count, of: id, at: record.time)
    }
  }
}
