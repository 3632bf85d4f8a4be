internal import EventJournal
internal import JournalTestSupport
internal import Primitives
internal import Testing

/// The core's decisions, without a file.
struct JournalCoreTests {
  private func makeCore(segmentBytes: Int = 1000, groupBytes: Int = 300) throws -> JournalCore {
    let configuration = JournalConfiguration(
      durability: .fsync, segmentBytes: segmentBytes, groupBytes: groupBytes)
    return try Journal.open(FaultyStorage(), configuration: configuration, now: 100).core
  }

  @Test func `offsets are dense and the durable head follows complete groups`() throws {
    var core = try makeCore()
    #expect(core.append(unsafe [1, 2, 3].span.bytes, count: 2, time: 101) == 0)
    #expect(core.append(unsafe [4].span.bytes, count: 5, time: 102) == 2)
    let first = try #require(core.takeGroup { [] })
    #expect(core.append(unsafe [5].span.bytes, count: 1, time: 103) == 7)
    let second = try #require(core.takeGroup { [] })
    #expect(core.takeGroup { [] } == nil)
    #expect(core.head == 8 && core.durableHead == 0)
    core.complete(first)
    #expect(core.durableHead == 7)
    core.complete(second)
    #expect(core.durableHead == 8)
  }

  @Test func `a chunk finds the batch that holds an offset`() throws {
    var core = try makeCore()
    for count in [2, 5, 1] { core.append(count: count, time: 101) { $0.append(UInt8(count)) } }
    let chunk = try #require(core.takeGroup { [] }).chunk
    #expect((0...8).map { chunk.index(of: $0) } == [0, 0, 1, 1, 1, 1, 1, 2, nil])
    #expect(chunk.records.map { chunk.withBody(of: $0) { $0.copied() } } == [[2], [5], [1]])
  }

  @Test func `journal time never goes back`() throws {
    var core = try makeCore()
    for time in [500, 20, 501, 0] as [Int64] { core.append(count: 1, time: time) { _ in } }
    let chunk = try #require(core.takeGroup { [] }).chunk
    #expect(chunk.records.map(\.time) == [500, 500, 501, 501])
  }

  @Test func `a group says when it is full and takes one record more`() throws {
    var core = try makeCore(groupBytes: 300)
    core.append(count: 1, time: 1) { $0 += [UInt8](repeating: 0, count: 200) }
    #expect(!core.groupIsFull)
    core.append(count: 1, time: 1) { $0 += [UInt8](repeating: 0, count: 5000) }
    #expect(core.groupIsFull)
    #expect(core.takeGroup { [] }?.chunk.records.count == 2)
    #expect(!core.groupIsFull && core.pendingBytes == 0)
  }

  @Test func `a full segment asks for one snapshot, and the next group begins a file`() throws {
    var core = try makeCore(segmentBytes: 500)
    var snapshots = 0
    var starts: [Bool] = []
    for _ in 0..<10 {
      core.append(count: 1, time: 1) { $0 += [UInt8](repeating: 0, count: 120) }
      let group = core.takeGroup {
        snapshots += 1
        return [UInt8](repeating: 9, count: 10_000)
      }
      starts.append(group?.startsSegment ?? false)
    }
    #expect(snapshots == 3)
    #expect(starts == [false, false, false, true, false, false, true, false, false, true])
  }

  @Test func `a segment can be ended before it is full`() throws {
    var core = try makeCore(segmentBytes: 1 << 20)
    var starts: [Bool] = []
    for number in 0..<4 {
      if number == 1 { core.endSegment() }
      core.append(count: 1, time: 1) { $0.append(1) }
      starts.append(core.takeGroup { [] }?.startsSegment ?? false)
    }
    #expect(starts == [false, false, true, false])
  }

  @Test func `a small group that is kept holds no more memory than it has bytes`() throws {
    var core = try makeCore(segmentBytes: 8 << 20, groupBytes: 1 << 20)
    core.append(count: 1, time: 1) { $0.append(1) }
    let chunk = try #require(core.takeGroup { [] }).chunk
    #expect(chunk.memoryBytes < 1000)
  }

  @Test func `an append after the close stops the program`() async {
    await #expect(processExitsWith: .failure) {
      let configuration = JournalConfiguration(durability: .fsync)
      var core = try Journal.open(FaultyStorage(), configuration: configuration, now: 1).core
      _ = core.takeClosingGroup(time: 1)
      core.append(count: 1, time: 1) { _ in }
    }
  }
}
