internal import EventJournal
internal import JournalTestSupport
internal import Primitives

/// One life of a journal on a faulty disk, chosen by a seed: sessions that append, roll, read, delete
/// and end by a clean close, a kill or a power loss at any operation.
struct JournalSimulation {
  enum Ending: CaseIterable { case closed, killed, powerLost }

  var random: SeededRandom
  var storage = FaultyStorage()
  var model = JournalModel()
  var configuration: JournalConfiguration
  var ending = Ending.closed
  var sessions = 0
  private var epoch: UInt32 = 0
  private var time: Int64 = 1_000_000_000
  private var serial: UInt64 = 0

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
    configuration = JournalConfiguration(
      durability: JournalDurability.allCases.randomElement(using: &random) ?? .fsync,
      segmentBytes: Int.random(in: 200...3000, using: &random),
      groupBytes: Int.random(in: 100...1500, using: &random))
  }

  mutating func run() throws {
    for _ in 0..<Int.random(in: 2...6, using: &random) { try session() }
    storage.setFaults(FaultyStorage.Faults())
    _ = try open()
  }

  private mutating func session() throws {
    sessions += 1
    if Int.random(in: 0..<4, using: &random) == 0 {
      configuration.durability =
        JournalDurability.allCases.randomElement(using: &random) ?? .fsync
    }
    let planned = Ending.allCases.randomElement(using: &random) ?? .closed
    if planned != .closed {
      let stop = Int.random(in: 0..<120, using: &random)
      storage.setFaults(FaultyStorage.Faults(stopsBefore: storage.operations + stop))
    }
    do {
      var recovery = try open()
      for _ in 0..<Int.random(in: 0..<12, using: &random) { try step(&recovery) }
      if planned == .closed { try close(&recovery) }
      ending = planned
    } catch JournalError.system(let error) where error.call == "stopped" {
      ending = planned
    }
    switch ending {
    case .closed, .killed: storage = storage.afterKill()
    case .powerLost: storage = storage.afterPowerLoss(using: &random)
    }
  }

  // MARK: Opening

  private mutating func open() throws -> JournalRecovery<FaultyStorage> {
    let before = (ending, model.acknowledged)
    let recovery = try Journal.open(storage, configuration: configuration, now: time)
    if before.0 == .closed {
      try require(
        recovery.cut == nil, "cut after a clean close: \(String(describing: recovery.cut))")
      try require(sessions < 2 || recovery.newEpoch == nil, "an epoch after a clean close")
    }
    // An open that was stopped after it wrote its mark has begun the epoch already.
    try require(
      recovery.core.head >= before.1 || recovery.core.epoch > epoch,
      "acknowledged \(before.1), found \(recovery.core.head) in the same epoch")
    epoch = recovery.core.epoch
    ending = .killed
    try model.restart(at: recovery.core.head)
    try check(recovery.journal, recovery.core)
    try checkTables(recovery)
    return recovery
  }

  private mutating func check(_ journal: Journal<FaultyStorage>, _ core: JournalCore) throws {
    let bytes = Int.random(in: 1...2000, using: &random)
    let found = try journal.entries(upTo: core.durableHead, maximumBytes: bytes)
    var known = model
    if known.head > core.durableHead { try known.restart(at: core.durableHead) }
    try known.check(found, earliest: journal.earliest)
    try known.checkForks(core.epochs, earliest: journal.earliest)
    let wanted = Int64.random(in: 0...(core.lastTime + 10), using: &random)
    let first = found.first { $0.time >= wanted }?.offset ?? core.durableHead
    let answer = try journal.offset(atOrAfter: wanted, upTo: core.durableHead)
    try require(answer == first, "time \(wanted) is at \(first), not \(answer)")
  }

  private func checkTables(_ recovery: JournalRecovery<FaultyStorage>) throws {
    var tables = model.tables(upTo: recovery.replayFrom)
    try require(recovery.snapshot == snapshot(tables, recovery.replayFrom), "a wrong snapshot")
    try recovery.replay { chunk in
      for record in chunk.records { tables[record.producer] = record.sequence }
    }
    try require(tables == model.tables(), "the replayed tables differ")
  }

  /// The first segment has an empty one, since there is nothing yet to remember.
  private func snapshot(_ tables: [JournalProducer: UInt64], _ offset: UInt64) -> [UInt8] {
    guard offset > 0 else { return [] }
    var bytes: [UInt8] = []
    bytes.appendBigEndian(offset)
    for (producer, sequence) in tables.sorted(by: { $0.key.low < $1.key.low }) {
      bytes.appendBigEndian(producer.low)
      bytes.appendBigEndian(sequence)
    }
    return bytes
  }

  // MARK: Running

  private mutating func step(_ recovery: inout JournalRecovery<FaultyStorage>) throws {
    switch Int.random(in: 0..<12, using: &random) {
    case 0:
      try check(recovery.journal, recovery.core)
    case 1:
      let bounds = recovery.journal.earliest...recovery.core.durableHead
      let offset = UInt64.random(in: bounds, using: &random)
      try recovery.journal.removeSegments(below: offset)
      try require(recovery.journal.earliest <= offset, "deleted too much")
    case 2:
      if recovery.core.needsIdleMark {
        recovery.core.appendIdleMark(time: time)
        try write(take(&recovery.core), &recovery)
      }
    default:
      try appendGroups(&recovery)
    }
  }

  /// One or two groups, the second taken before the first is complete.
  private mutating func appendGroups(_ recovery: inout JournalRecovery<FaultyStorage>) throws {
    var groups: [JournalGroup] = []
    for _ in 0..<Int.random(in: 1...2, using: &random) {
      for _ in 0..<Int.random(in: 1...4, using: &random) { append(&recovery.core) }
      groups += take(&recovery.core)
    }
    if configuration.durability == .none { model.acknowledge(upTo: recovery.core.head) }
    try write(groups, &recovery)
  }

  private mutating func append(_ core: inout JournalCore) {
    serial += 1
    time += Int64.random(in: -3...20, using: &random)
    var body: [UInt8] = []
    body.appendBigEndian(serial)
    body += [UInt8](
      repeating: UInt8(truncatingIfNeeded: serial), count: .random(in: 0...80, using: &random))
    let producer = JournalProducer(high: 9, low: UInt64.random(in: 1...3, using: &random))
    let count = Int.random(in: 1...3, using: &random)
    let offset = core.append(
      unsafe body.span.bytes, count: count, producer: producer, sequence: serial, time: time)
    model.append(
      JournalModel.Entry(
        offset: offset, count: count, epoch: core.epoch, time: core.lastTime, body: body,
        producer: producer, sequence: serial))
  }

  private func take(_ core: inout JournalCore) -> [JournalGroup] {
    let head = core.head
    let group = core.takeGroup { snapshot(model.tables(), head) }
    return group.map { [$0] } ?? []
  }

  private mutating func write(
    _ groups: [JournalGroup], _ recovery: inout JournalRecovery<FaultyStorage>
  ) throws {
    for group in groups {
      try recovery.writer.write(group)
      recovery.core.complete(group)
      if configuration.durability != .none { model.acknowledge(upTo: group.nextOffset) }
    }
  }

  private mutating func close(_ recovery: inout JournalRecovery<FaultyStorage>) throws {
    try recovery.writer.write(recovery.core.takeClosingGroup(time: time))
  }
}
