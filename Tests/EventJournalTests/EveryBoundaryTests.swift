internal import EventJournal
internal import JournalTestSupport
internal import Primitives
internal import Testing

/// One script, stopped, cut short and starved at every place there is.
struct EveryBoundaryTests {
  @Test(arguments: [0, 1, 2])
  func `a crash before any operation loses nothing acknowledged`(losing: UInt64) throws {
    var random = SeededRandom(seed: losing)
    var stop = 0
    var finished = false
    while !finished {
      var script = SmallJournal()
      script.storage.setFaults(FaultyStorage.Faults(stopsBefore: stop))
      do {
        try script.play(closes: true)
        finished = true
      } catch { #expect(!error.isRetriable) }
      let survived =
        losing == 0 ? script.storage.afterKill() : script.storage.afterPowerLoss(using: &random)
      do { try script.checkRecovery(survived, atLeast: script.acknowledged) } catch {
        Issue.record("stopped before operation \(stop): \(error)")
      }
      stop += 1
    }
    #expect(stop > 50)
  }

  @Test func `a disk that is full at any byte refuses a group whole and takes it later`() throws {
    var whole = SmallJournal()
    try whole.play(closes: true)
    let total = whole.storage.segmentNames.reduce(0) { $0 + whole.storage.bytes(of: $1).count }
    for room in 0..<total {
      var script = SmallJournal()
      let storage = script.storage
      var refusals = 0
      storage.setFaults(FaultyStorage.Faults(room: room))
      do {
        try script.play(closes: true) { () throws(JournalError) in
          refusals += 1
          let verified = try Journal.verify(storage)
          #expect(verified.damages.isEmpty && verified.unsyncedTail == nil, "room \(room)")
          storage.setFaults(FaultyStorage.Faults())
        }
        #expect(refusals == 1, "room \(room)")
      } catch {
        // Without room for the first file the open itself says so.
        #expect(error.isRetriable && script.entries.isEmpty, "room \(room): \(error)")
        storage.setFaults(FaultyStorage.Faults())
        try script.play(closes: true)
      }
      expectWhole(script, as: whole, room)
    }
  }

  /// Everything was taken in the end, and a kill now loses none of it.
  private func expectWhole(_ script: SmallJournal, as whole: SmallJournal, _ room: Int) {
    #expect(script.entries.count == whole.entries.count)
    do { try script.checkRecovery(script.storage.afterKill(), atLeast: script.acknowledged) } catch
    {
      Issue.record("room \(room): \(error)")
    }
  }

  @Test func `a file system that turns read-only at any byte loses nothing and goes on later`()
    throws
  {
    var whole = SmallJournal()
    try whole.play(closes: true)
    let total = whole.storage.segmentNames.reduce(0) { $0 + whole.storage.bytes(of: $1).count }
    for room in 0..<total {
      var script = SmallJournal()
      let storage = script.storage
      var faults = FaultyStorage.Faults(room: room)
      faults.isReadOnly = true
      storage.setFaults(faults)
      do {
        try script.play(closes: true) { () throws(JournalError) in
          #expect(try Journal.verify(storage).damages.isEmpty, "room \(room)")
          storage.setFaults(FaultyStorage.Faults())
        }
      } catch {
        #expect(error.isRetriable && script.entries.isEmpty, "room \(room): \(error)")
        storage.setFaults(FaultyStorage.Faults())
        try script.play(closes: true)
      }
      expectWhole(script, as: whole, room)
    }
  }

  @Test func `a full disk and then a crash lose nothing acknowledged`() throws {
    var random = SeededRandom(seed: 5)
    for room in 0..<3000 {
      var script = SmallJournal()
      let storage = script.storage
      storage.setFaults(FaultyStorage.Faults(room: room))
      do { try script.play(closes: false) } catch { #expect(error.isRetriable) }
      let survived = storage.afterPowerLoss(using: &random)
      do { try script.checkRecovery(survived, atLeast: script.acknowledged) } catch {
        Issue.record("room \(room): \(error)")
      }
    }
  }

  @Test func `a failed sync is final and loses nothing acknowledged`() throws {
    var random = SeededRandom(seed: 6)
    var failing = 0
    var finished = false
    while !finished {
      var script = SmallJournal()
      script.storage.setFaults(FaultyStorage.Faults(failingSync: failing))
      do {
        try script.play(closes: true, onFull: { Issue.record("a failed sync was tried again") })
        finished = true
      } catch {
        guard case .system(let cause) = error else {
          Issue.record("sync \(failing): \(error)")
          return
        }
        #expect(cause.call == "fdatasync")
      }
      let survived = script.storage.afterPowerLoss(using: &random)
      do { try script.checkRecovery(survived, atLeast: script.acknowledged) } catch {
        Issue.record("sync \(failing): \(error)")
      }
      failing += 1
    }
    #expect(failing > 10)
  }

  @Test func `a writer that failed refuses everything after`() throws {
    let storage = FaultyStorage()
    let configuration = JournalConfiguration(durability: .fsync)
    var recovery = try Journal.open(storage, configuration: configuration, now: 1)
    storage.setFaults(FaultyStorage.Faults(failingSync: storage.syncs))
    recovery.core.append(count: 1, time: 1) { $0.append(1) }
    let group = try #require(recovery.core.takeGroup { [] })
    let failure = #expect(throws: JournalError.self) { try recovery.writer.write(group) }
    #expect(throws: try #require(failure)) { try recovery.writer.write(group) }
  }
}
