internal import EventJournal
internal import Primitives
internal import Synchronization
internal import TestSupport
internal import Testing

/// Several threads, and several processes, at one journal on the real file system.
struct JournalSharingTests {
  /// What the threads of a test tell each other.
  private final class Shared: Sendable {
    let durableHead = Atomic<UInt64>(0)
    let failures = Mutex<[String]>([])

    func fail(_ message: String) { failures.withLock { $0.append(message) } }
  }

  @Test(.timeLimit(.minutes(5)))
  func `readers follow beside the writer and retention`() throws {
    let directory = try TemporaryFolder()
    let configuration = JournalConfiguration(durability: .os, segmentBytes: 4000)
    var recovery = try Journal.open(directory.storage, configuration: configuration, now: 1)
    let journal = recovery.journal
    let shared = Shared()
    let total: UInt64 = 600
    let readers = try (0..<2).map { number throws in
      try OwnedThread(name: "reader") {
        Self.follow(journal, shared, to: total, maximumBytes: 100 + number * 1000)
      }
    }
    for value in 0..<total {
      recovery.core.append(count: 1, time: Int64(value)) { $0.appendBigEndian(value) }
      let group = try #require(recovery.core.takeGroup { [] })
      try recovery.writer.write(group)
      recovery.core.complete(group)
      shared.durableHead.store(recovery.core.durableHead, ordering: .releasing)
      if value % 50 == 49 { try journal.removeSegments(below: value - 20) }
    }
    for reader in readers { reader.join() }
    #expect(shared.failures.withLock { $0 } == [])
    #expect(journal.earliest > 500)
    let names = try directory.storage.list().filter { $0.hasSuffix(".segment") }
    let segments = journal.segments(head: recovery.core.head, lastTime: recovery.core.lastTime)
    #expect(Set(names) == Set(segments.map(\.file)))
    #expect(segments.last?.offsets.upperBound == total)
  }

  private static func follow(
    _ journal: Journal<DirectoryStorage>, _ shared: Shared, to total: UInt64, maximumBytes: Int
  ) {
    var offset: UInt64 = 0
    while offset < total {
      do {
        let head = shared.durableHead.load(ordering: .acquiring)
        guard
          let chunk = try journal.read(from: offset, maximumBytes: maximumBytes, upTo: head)
        else { continue }
        for record in chunk.records {
          let value: UInt64 = chunk.withBody(of: record) { $0.bigEndian(at: 0) }
          if value != record.offset { shared.fail("\(value) at \(record.offset)") }
        }
        offset = chunk.offsets.upperBound
      } catch JournalError.behindRetention(let earliest) {
        if earliest <= offset { shared.fail("sent from \(offset) to \(earliest)") }
        offset = earliest
      } catch {
        shared.fail("\(error)")
        return
      }
    }
  }

  @Test func `retention deletes whole segments and never the newest`() throws {
    let directory = try TemporaryFolder()
    let configuration = JournalConfiguration(durability: .os, segmentBytes: 100)
    var recovery = try Journal.open(directory.storage, configuration: configuration, now: 1)
    for value in 0..<4 as Range<UInt64> {
      recovery.core.append(count: 1, time: 1) { $0.appendBigEndian(value) }
      recovery.core.append(count: 1, time: 1) { $0.appendBigEndian(value) }
      let group = try #require(recovery.core.takeGroup { [] })
      try recovery.writer.write(group)
      recovery.core.complete(group)
    }
    let removed = try recovery.journal.removeSegments(below: 5)
    #expect(removed.map(\.offsets) == [0..<2, 2..<4])
    #expect(throws: JournalError.behindRetention(earliest: 4)) {
      try recovery.journal.read(from: 3, maximumBytes: 100, upTo: 8)
    }
    #expect(try recovery.journal.removeSegments(below: .max).map(\.offsets) == [4..<6])
    #expect(try recovery.journal.offset(atOrAfter: 0, upTo: 8) == 6)
    let names = try directory.storage.list().filter { $0.hasSuffix(".segment") }
    #expect(names == ["00000000000000000006.segment"])
  }

  @Test func `a second writer is refused and told who holds the journal`() throws {
    let directory = try TemporaryFolder()
    let configuration = JournalConfiguration(durability: .fsync)
    let recovery = try Journal.open(directory.storage, configuration: configuration, now: 1)
    let failure = #expect(throws: JournalError.self) {
      try Journal.open(directory.storage, configuration: configuration, now: 1)
    }
    guard case .locked(_, let holder) = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(holder != nil)
    #expect(throws: JournalError.self) { try Journal.repair(directory.storage, now: 1) }
    #expect(try Journal.info(directory.storage)?.offsets == 0..<0)
    withExtendedLifetime(recovery.writer) {}
  }
}
