internal import EventJournal
internal import JournalTestSupport
internal import Primitives

/// A short script that every exhaustive test plays: ten groups of one or two batches in about three
/// segments, idle marks, and a clean close if it is asked for.
struct SmallJournal {
  var storage: FaultyStorage
  var configuration = JournalConfiguration(
    durability: .fsync, segmentBytes: 900, groupBytes: 400)
  /// Everything appended.
  private(set) var entries: [JournalModel.Entry] = []
  private(set) var acknowledged: UInt64 = 0

  init(storage: FaultyStorage = FaultyStorage()) { self.storage = storage }

  /// Plays the script. `onFull` is called when a group finds no room, and the group is written again.
  mutating func play(groups: Int = 10, closes: Bool, onFull: () throws(JournalError) -> Void = {})
    throws(JournalError)
  {
    var recovery = try Journal.open(storage, configuration: configuration, now: 1_000_000_000)
    for number in 0..<groups {
      for part in 0...(number % 2) { append(number * 2 + part, to: &recovery.core) }
      let head = recovery.core.head
      guard let group = recovery.core.takeGroup(snapshot: { Self.snapshot(at: head) }) else {
        continue
      }
      try write(group, &recovery, onFull)
      acknowledged = group.nextOffset
      if number % 4 == 3, recovery.core.needsIdleMark {
        recovery.core.appendIdleMark(time: 1_000_000_000)
        guard let mark = recovery.core.takeGroup(snapshot: { Self.snapshot(at: head) }) else {
          continue
        }
        try write(mark, &recovery, onFull)
      }
    }
    guard closes else { return }
    try write(recovery.core.takeClosingGroup(time: 1_000_000_000), &recovery, onFull)
  }

  static func snapshot(at offset: UInt64) -> [UInt8] { Array("tables at \(offset)".utf8) }

  private mutating func append(_ number: Int, to core: inout JournalCore) {
    let body = [UInt8](repeating: UInt8(number), count: 20 + number * 7)
    let producer = JournalProducer(high: 1, low: 2)
    let time = 1_000_000_000 + Int64(number)
    let offset = core.append(
      unsafe body.span.bytes, count: 1 + number % 3, producer: producer,
      sequence: UInt64(number), time: time)
    entries.append(
      JournalModel.Entry(
        offset: offset, count: 1 + number % 3, epoch: core.epoch, time: time, body: body,
        producer: producer, sequence: UInt64(number)))
  }

  private func write(
    _ group: JournalGroup, _ recovery: inout JournalRecovery<FaultyStorage>,
    _ onFull: () throws(JournalError) -> Void
  ) throws(JournalError) {
    do throws(JournalError) {
      try recovery.writer.write(group)
    } catch {
      guard error.isRetriable else { throw error }
      try onFull()
      try recovery.writer.write(group)
    }
    recovery.core.complete(group)
  }

  /// Opens what is on `storage` and reads everything; checks that it is a beginning of the script that
  /// holds all that was acknowledged.
  func checkRecovery(_ storage: FaultyStorage, atLeast least: UInt64) throws {
    let recovery = try Journal.open(
      storage, configuration: configuration, now: 1_000_000_000)
    let head = recovery.core.head
    try require(head >= least, "acknowledged \(least), found \(head)")
    let found = try recovery.journal.entries(upTo: head, maximumBytes: 300)
    try require(found.elementsEqual(entries.prefix(found.count)), "read what was never appended")
    try require(found.last?.nextOffset ?? 0 == head, "the head is \(head)")
    if recovery.replayFrom > 0 {
      let snapshot = Self.snapshot(at: recovery.replayFrom)
      try require(recovery.snapshot == snapshot, "another snapshot")
    }
    let verified = try Journal.verify(storage)
    try require(verified.damages.isEmpty, "\(verified.damages)")
    try require(verified.offsets.upperBound == head, "\(verified)")
  }
}
