internal import EventJournal
internal import JournalTestSupport
internal import Primitives
internal import Testing

/// Every length a file can be cut to, and every byte that can go bad: recovered, or a clear error.
struct EveryByteTests {
  @Test func `the newest segment cut at any length recovers what is whole`() throws {
    var script = SmallJournal()
    try script.play(closes: false)
    let name = try #require(script.storage.segmentNames.last)
    let bytes = script.storage.bytes(of: name)
    let first = try #require(UInt64(name.prefix(20)))
    var recovered = 0
    for length in 0..<bytes.count {
      let storage = script.storage.afterKill()
      storage.replace(name, with: Array(bytes[..<length]))
      do {
        try script.checkRecovery(storage, atLeast: first)
        recovered += 1
      } catch JournalError.damaged(let damage) {
        // A file has its name only once its head is durable, so a short head is damage.
        #expect([.fileHeader, .snapshot].contains(damage.reason), "length \(length)")
      } catch {
        Issue.record("length \(length): \(error)")
      }
    }
    #expect(recovered > 300)
  }

  @Test(arguments: [0x01, 0x80, 0xFF] as [UInt8])
  func `a bad byte anywhere is found, and never read as data`(flip: UInt8) throws {
    var script = SmallJournal()
    try script.play(closes: true)
    for name in script.storage.segmentNames {
      let bytes = script.storage.bytes(of: name)
      for position in bytes.indices {
        let storage = script.storage.afterKill()
        var bad = bytes
        bad[position] ^= flip
        storage.replace(name, with: bad)
        do { try check(storage, name, position, script) } catch {
          Issue.record("\(name), byte \(position): \(error)")
        }
      }
    }
  }

  private func check(
    _ storage: FaultyStorage, _ name: String, _ position: Int, _ script: SmallJournal
  ) throws {
    let verified = try Journal.verify(storage)
    let named = verified.damages + [verified.unsyncedTail].compactMap { $0 }
    let hit = named.contains { $0.file == name && $0.position <= position }
    try require(hit, "verify names \(named)")
    do {
      let recovery = try Journal.open(
        storage, configuration: script.configuration, now: 1_000_000_000)
      // Only the closing mark may be cut: everything before it was synced.
      try require(recovery.core.head == script.acknowledged, "head \(recovery.core.head)")
      var offset: UInt64 = 0
      while let chunk = try recovery.journal.read(
        from: offset, maximumBytes: 300, upTo: recovery.core.head)
      {
        let found = chunk.records.map { JournalModel.Entry($0, in: chunk) }
        try require(found.allSatisfy(script.entries.contains), "wrong data")
        offset = chunk.offsets.upperBound
      }
      // An old segment's snapshot is never read again; all else is.
      let unread = verified.damages.filter { $0.reason != .snapshot }
      try require(unread.isEmpty, "read past \(named)")
    } catch JournalError.damaged(let damage) {
      try require(damage.file == name, "blames \(damage)")
    }
  }
}
