internal import EventJournal
internal import JournalTestSupport
internal import Primitives
internal import Testing

/// `repair` takes out what is damaged and nothing else.
struct JournalRepairTests {
  @Test func `one bad byte costs at most the batch it is in`() throws {
    var script = SmallJournal()
    try script.play(closes: true)
    for name in script.storage.segmentNames {
      let bytes = script.storage.bytes(of: name)
      let start = try recordsPosition(bytes)
      for position in bytes.indices where position >= start {
        let storage = script.storage.afterKill()
        var bad = bytes
        bad[position] ^= 0x10
        storage.replace(name, with: bad)
        do {
          let report = try Journal.repair(storage, now: 5_000_000_000)
          let lost = script.entries.filter { entry in
            report.lost.contains { $0.contains(entry.offset) }
          }
          try require(lost.count <= 1, "lost \(lost)")
          try require(!report.repaired.isEmpty && !report.sideFiles.isEmpty, "\(report)")
          try require((report.epoch != nil) == !report.lost.isEmpty, "\(report)")
          try check(storage, report, script)
        } catch { Issue.record("\(name), byte \(position): \(error)") }
      }
    }
  }

  @Test(arguments: 0..<UInt64(4))
  func `any damage leaves what is whole readable at its offset`(part: UInt64) throws {
    for seed in (part * 100)..<(part * 100 + 100) {
      var random = SeededRandom(seed: seed)
      var script = SmallJournal()
      try script.play(groups: 20, closes: Bool.random(using: &random))
      let storage = script.storage.afterKill()
      for _ in 0..<Int.random(in: 1...3, using: &random) { damage(storage, using: &random) }
      do {
        let report = try Journal.repair(storage, now: 5_000_000_000)
        try check(storage, report, script)
        let again = try Journal.repair(storage, now: 6_000_000_000)
        try require(again.repaired.isEmpty && again.epoch == nil, "again \(again)")
      } catch { Issue.record("seed \(seed): \(error)") }
    }
  }

  @Test(arguments: 0..<UInt64(2))
  func `a repair that is stopped anywhere can be run again`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed + 50)
    var script = SmallJournal()
    try script.play(groups: 20, closes: true)
    let damaged = script.storage.afterKill()
    for _ in 0..<3 { damage(damaged, using: &random) }
    var stop = 1
    var finished = false
    while !finished {
      let storage = damaged.afterKill()
      storage.setFaults(FaultyStorage.Faults(stopsBefore: stop))
      do {
        _ = try Journal.repair(storage, now: 5_000_000_000)
        finished = true
      } catch { #expect(!error.isRetriable) }
      let survived = storage.afterPowerLoss(using: &random)
      do {
        _ = try Journal.repair(survived, now: 6_000_000_000)
        #expect(try Journal.verify(survived).damages.isEmpty)
      } catch { Issue.record("stopped before \(stop): \(error)") }
      stop += 1
    }
    #expect(stop > 10)
  }

  @Test func `a journal without one good segment begins again in a new epoch`() throws {
    var script = SmallJournal()
    try script.play(closes: true)
    let before = try #require(try Journal.info(script.storage))
    let storage = script.storage.afterKill()
    for name in storage.segmentNames { storage.replace(name, with: [1, 2, 3]) }
    let report = try Journal.repair(storage, now: 5_000_000_000)
    #expect(report.lostFrom == before.segments.last?.offsets.lowerBound)
    let recovery = try Journal.open(storage, configuration: script.configuration, now: 6)
    #expect(recovery.core.head == report.lostFrom)
    #expect(recovery.core.epoch > before.epochs[0].number)
  }

  @Test func `a lost snapshot is replaced by the one before and the records since`() throws {
    var script = SmallJournal()
    try script.play(closes: true)
    let storage = script.storage.afterKill()
    let names = storage.segmentNames
    let name = try #require(names.last)
    var bytes = storage.bytes(of: name)
    bytes[78] ^= 1
    storage.replace(name, with: bytes)
    #expect(throws: JournalError.self) {
      try Journal.open(storage, configuration: script.configuration, now: 6)
    }
    let report = try Journal.repair(storage, now: 7)
    #expect(report.snapshotsVoided == 1 && report.lost.isEmpty)
    let recovery = try Journal.open(storage, configuration: script.configuration, now: 8)
    #expect(recovery.replayFrom == UInt64(names[names.count - 2].prefix(20)))
    var replayed = 0
    try recovery.replay { replayed += $0.records.count }
    #expect(replayed == script.entries.filter { $0.offset >= recovery.replayFrom }.count)
  }

  private func recordsPosition(_ bytes: [UInt8]) throws -> Int {
    let span = unsafe bytes.span.bytes
    return Int(span.bigEndian(at: 12, as: UInt32.self))
      + Int(span.bigEndian(at: 16, as: UInt64.self))
  }

  private func damage(_ storage: FaultyStorage, using random: inout SeededRandom) {
    guard let name = storage.segmentNames.randomElement(using: &random) else { return }
    var bytes = storage.bytes(of: name)
    guard !bytes.isEmpty else { return }
    let position = Int.random(in: 0..<bytes.count, using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: bytes[position] ^= 0x40
    case 1: bytes.removeLast(bytes.count - position)
    case 2:
      bytes.replaceSubrange(position..., with: repeatElement(0, count: bytes.count - position))
    default:
      let end = min(bytes.count, position + Int.random(in: 1...400, using: &random))
      bytes.replaceSubrange(position..<end, with: repeatElement(0xAA, count: end - position))
    }
    storage.replace(name, with: bytes)
  }

  /// Everything appended is read as it was, or is reported as lost, and offsets go on behind it.
  private func check(
    _ storage: FaultyStorage, _ report: JournalRepairReport, _ script: SmallJournal
  ) throws {
    let verified = try Journal.verify(storage)
    try require(verified.damages.isEmpty && verified.unsyncedTail == nil, "\(verified)")
    var recovery = try Journal.open(storage, configuration: script.configuration, now: 1)
    try require(recovery.cut == nil, "cut")
    recovery.core.append(count: 1, time: 1) { $0.append(1) }
    if let group = recovery.core.takeGroup(snapshot: { [] }) {
      try recovery.writer.write(group)
      recovery.core.complete(group)
    }
    let head = recovery.core.head
    var read: Set<UInt64> = []
    var offset = recovery.journal.earliest
    while let chunk = try recovery.journal.read(from: offset, maximumBytes: 500, upTo: head) {
      for record in chunk.records where record.offset < head - 1 {
        let entry = JournalModel.Entry(record, in: chunk)
        try require(script.entries.contains(entry), "wrong data at \(record.offset)")
        read.insert(entry.offset)
      }
      offset = chunk.offsets.upperBound
    }
    try require(offset == head, "read up to \(offset)")
    for entry in script.entries where !read.contains(entry.offset) {
      let isLost = report.lost.contains { $0.contains(entry.offset) }
      let isBehind = entry.offset >= report.lostFrom ?? .max
      // An unsynced tail is cut without a word, as an open would.
      let isTail = entry.offset >= head - 1
      try require(isLost || isBehind || isTail, "\(entry.offset) is missing without a word")
    }
  }
}
