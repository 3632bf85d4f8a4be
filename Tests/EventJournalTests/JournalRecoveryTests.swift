internal import EventJournal
internal import JournalTestSupport
internal import Primitives
internal import Testing

/// The rules of an open, one by one.
struct JournalRecoveryTests {
  private typealias Recovery = JournalRecovery<FaultyStorage>

  private func open(
    _ storage: FaultyStorage, _ durability: JournalDurability = .fsync, now: Int64 = 9
  ) throws -> Recovery {
    try Journal.open(
      storage, configuration: JournalConfiguration(durability: durability), now: now)
  }

  /// Appends one batch of one event in a group of its own.
  @discardableResult
  private func append(_ value: UInt8, to recovery: inout Recovery) throws -> JournalGroup {
    recovery.core.append(count: 1, time: Int64(value)) {
      $0 += [UInt8](repeating: value, count: 50)
    }
    let group = try #require(recovery.core.takeGroup { [] })
    try recovery.writer.write(group)
    return group
  }

  private func spoil(_ storage: FaultyStorage, at position: Int) throws {
    let name = try #require(storage.segmentNames.last)
    var bytes = storage.bytes(of: name)
    bytes[position] ^= 1
    storage.replace(name, with: bytes)
  }

  private let recordBytes = RecordHeader.byteCount + 50

  @Test func `valid records behind an unsynced gap are cut with it`() throws {
    let storage = FaultyStorage()
    var recovery = try open(storage)
    // None of the three is complete, so each says that nothing is synced.
    for value in 1...3 as ClosedRange<UInt8> { try append(value, to: &recovery) }
    let survived = storage.afterKill()
    let start = survived.bytes(of: survived.segmentNames[0]).count - 3 * recordBytes
    try spoil(survived, at: start + recordBytes + 100)
    let again = try open(survived)
    #expect(again.core.head == 1)
    #expect(again.cut?.records == 1)
    #expect(again.cut?.byteCount == 2 * recordBytes)
    #expect(again.newEpoch == nil, "nobody saw what was cut")
  }

  @Test func `damage before a synced offset stops the open and changes nothing`() throws {
    let storage = FaultyStorage()
    var recovery = try open(storage)
    for value in 1...3 as ClosedRange<UInt8> {
      recovery.core.complete(try append(value, to: &recovery))
    }
    let survived = storage.afterKill()
    let name = try #require(survived.segmentNames.first)
    let start = survived.bytes(of: name).count - 3 * recordBytes
    try spoil(survived, at: start + 100)
    let before = survived.bytes(of: name)
    let failure = #expect(throws: JournalError.self) { try open(survived) }
    guard case .damaged(let damage) = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(damage.position == start && damage.offset == 0 && damage.resumesAt == 1)
    #expect(damage.reason == .checksum)
    #expect(survived.bytes(of: name) == before)
    #expect("\(JournalError.damaged(damage))".contains("eventbus journal repair"))
  }

  @Test func `an idle mark protects the last group`() throws {
    let storage = FaultyStorage()
    var recovery = try open(storage)
    recovery.core.complete(try append(1, to: &recovery))
    #expect(recovery.core.needsIdleMark)
    recovery.core.appendIdleMark(time: 2)
    let mark = try #require(recovery.core.takeGroup { [] })
    try recovery.writer.write(mark)
    recovery.core.complete(mark)
    #expect(!recovery.core.needsIdleMark)
    let survived = storage.afterKill()
    try spoil(survived, at: survived.bytes(of: survived.segmentNames[0]).count - 100)
    #expect(throws: JournalError.self) { try open(survived) }
  }

  @Test(arguments: JournalDurability.allCases)
  func `a crash begins an epoch unless every write was synced`(
    durability: JournalDurability
  ) throws {
    let storage = FaultyStorage()
    var recovery = try open(storage, durability, now: 5_000_000_000)
    try append(1, to: &recovery)
    let again = try open(storage.afterKill(), durability, now: 6_000_000_000)
    #expect(again.newEpoch == (durability == .fsync ? nil : .crashed))
    let first = JournalEpoch(number: 5, firstOffset: 0)
    let second = JournalEpoch(number: 6, firstOffset: 1)
    #expect(again.core.epochs == (durability == .fsync ? [first] : [first, second]))
  }

  @Test(arguments: JournalDurability.allCases)
  func `a clean close keeps the epoch`(durability: JournalDurability) throws {
    let storage = FaultyStorage()
    var recovery = try open(storage, durability)
    let group = try append(1, to: &recovery)
    recovery.core.complete(group)
    try recovery.writer.write(recovery.core.takeClosingGroup(time: 3))
    #expect(throws: JournalError.closed) { try recovery.writer.write(group) }
    var random = SeededRandom(seed: 1)
    let again = try open(storage.afterPowerLoss(using: &random), durability)
    #expect(again.newEpoch == nil && again.cut == nil && again.core.head == 1)
  }

  @Test func `an epoch number grows even when the clock goes back`() throws {
    let storage = FaultyStorage()
    var recovery = try open(storage, .none, now: 50_000_000_000)
    try append(1, to: &recovery)
    let again = try open(storage.afterKill(), .none, now: 1)
    #expect(again.core.epochs.map(\.number) == [50, 51])
    #expect(again.core.lastTime >= 50_000_000_000)
    #expect(again.core.epochs.end(of: 50, head: 9) == 1)
    #expect(again.core.epochs.end(of: 51, head: 9) == 9)
    #expect(again.core.epochs.end(of: 52, head: 9) == nil)
  }

  @Test func `a journal that went back begins an epoch when it is told`() throws {
    let storage = FaultyStorage()
    _ = try open(storage)
    var configuration = JournalConfiguration(durability: .fsync)
    configuration.wentBack = true
    let again = try Journal.open(storage.afterKill(), configuration: configuration, now: 9)
    #expect(again.newEpoch == .wentBack && again.core.epochs.count == 2)
  }

  @Test func `many restarts change nothing`() throws {
    var storage = FaultyStorage()
    var random = SeededRandom(seed: 3)
    var recovery = try open(storage)
    for value in 0..<100 as Range<UInt8> {
      recovery.core.complete(try append(value, to: &recovery))
      storage = storage.afterPowerLoss(using: &random)
      recovery = try open(storage)
      #expect(recovery.core.head == UInt64(value) + 1)
      #expect(recovery.cut == nil && recovery.core.epochs.count == 1)
    }
    #expect(try recovery.journal.entries(upTo: 100, maximumBytes: 1000).count == 100)
  }

  @Test func `a segment that a crash left half made is removed`() throws {
    let storage = FaultyStorage()
    _ = try open(storage)
    _ = try storage.create("00000000000000000009.segment.new")
    let again = storage.afterKill()
    _ = try open(again)
    #expect(try again.list().allSatisfy { !$0.hasSuffix(".new") })
  }
}
