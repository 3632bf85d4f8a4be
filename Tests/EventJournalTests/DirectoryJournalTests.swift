internal import EventJournal
internal import Primitives
internal import TestSupport
internal import Testing

/// The journal on the real file system.
struct DirectoryJournalTests {
  let configuration = JournalConfiguration(durability: .fsync, segmentBytes: 2000)

  @Test func `what was written is read back, from memory, from the disk and after a restart`()
    throws
  {
    let directory = try TemporaryFolder()
    do {
      var recovery = try Journal.open(directory.storage, configuration: configuration, now: 5)
      #expect(recovery.newEpoch == .newJournal)
      for number in 0..<50 {
        let body = [UInt8](repeating: UInt8(number), count: 100)
        recovery.core.append(unsafe body.span.bytes, count: 2, time: Int64(number))
        let group = try #require(recovery.core.takeGroup { [1, 2, 3] })
        try recovery.writer.write(group)
        recovery.core.complete(group)
        #expect(group.chunk.records.map(\.offset) == [UInt64(number * 2)])
      }
      try recovery.writer.write(recovery.core.takeClosingGroup(time: 60))
      #expect(try offsets(recovery.journal, upTo: 100) == Array(stride(from: 0, to: 100, by: 2)))
    }
    let again = try Journal.open(directory.storage, configuration: configuration, now: 5)
    #expect(again.newEpoch == nil)
    #expect(again.core.head == 100)
    #expect(again.snapshot == [1, 2, 3])
    #expect(try offsets(again.journal, upTo: 100) == Array(stride(from: 0, to: 100, by: 2)))
  }

  @Test func `nothing is acknowledged in a file that somebody removed`() throws {
    let directory = try TemporaryFolder()
    var recovery = try Journal.open(directory.storage, configuration: configuration, now: 5)
    recovery.core.append(unsafe [1].span.bytes, count: 1, time: 5)
    try recovery.writer.write(try #require(recovery.core.takeGroup { [] }))
    let file = try #require(recovery.journal.segments(head: 1, lastTime: 5).last?.file)
    try directory.storage.remove(file)
    recovery.core.append(unsafe [2].span.bytes, count: 1, time: 6)
    let group = try #require(recovery.core.takeGroup { [] })
    let removed = JournalError.removed(file: directory.path + "/" + file)
    #expect(throws: removed) { try recovery.writer.write(group) }
    // It is final: what comes later would be behind a hole.
    #expect(throws: removed) { try recovery.writer.write(group) }
  }

  @Test(arguments: ["cp -a", "cp -r", "tar"])
  func `a copy of its files begins a new epoch, once`(_ copy: String) throws {
    let directory = try TemporaryFolder()
    let path = directory.file("journal")
    func open() throws -> JournalRecovery<DirectoryStorage>.NewEpochReason? {
      let storage = try DirectoryStorage(creating: path)
      var recovery = try Journal.open(storage, configuration: configuration, now: 5)
      try recovery.writer.write(recovery.core.takeClosingGroup(time: 60))
      return recovery.newEpoch
    }
    #expect(try open() == .newJournal)
    #expect(try open() == nil)
    // In the same place, where a file system may give the same inodes again.
    let restore =
      copy == "tar"
      ? "tar cf backup journal && rm -r journal && tar xf backup"
      : "\(copy) journal backup && rm -r journal && \(copy) backup journal"
    let (status, _, _) = try ChildProcess.run(
      "/bin/sh", ["-c", "cd \(directory.path) && \(restore)"])
    #expect(status == .exited(0))
    #expect(try open() == .copied)
    #expect(try open() == nil)
  }

  private func offsets(
    _ journal: Journal<DirectoryStorage>, upTo limit: UInt64
  ) throws -> [UInt64] {
    var all: [UInt64] = []
    var offset: UInt64 = 0
    while let chunk = try journal.read(from: offset, maximumBytes: 500, upTo: limit) {
      all += chunk.records.map(\.offset)
      offset = chunk.offsets.upperBound
      for record in chunk.records {
        let first = chunk.withBody(of: record) { $0.bigEndian(at: 0, as: UInt8.self) }
        #expect(UInt64(first) * 2 == record.offset)
      }
    }
    return all
  }
}
