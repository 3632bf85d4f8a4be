import EventJournal
import Testing

@testable import BusBroker

@Suite struct TailTests {
  /// Ten chunks of two events each.
  static let chunks = (0..<10).map {
    SampleChunks.chunk(first: UInt64($0 * 2), [["a"], ["b"]])
  }

  static func tail(chunksHeld: Int) -> Tail {
    // The newest chunks' own sizes: the allocator may give each another capacity.
    let bytes = chunks.suffix(chunksHeld).reduce(0) { $0 + $1.memoryBytes }
    var tail = Tail(maximumBytes: bytes, first: 0)
    for chunk in chunks { tail.append(chunk) }
    return tail
  }

  @Test(arguments: [(0, 10), (1, 10), (2, 9), (17, 2), (18, 1), (19, 1), (20, 0), (.max, 0)])
  func `chunks from the one that holds an offset on`(_ offset: UInt64, _ count: Int) {
    let found = Self.tail(chunksHeld: 100).chunks(from: offset)
    #expect(found.count == count)
    if let first = found.first { #expect(first.offsets.contains(offset)) }
  }

  @Test func `the oldest chunks fall out at the bound`() {
    let tail = Self.tail(chunksHeld: 3)
    #expect(tail.byteCount <= tail.maximumBytes)
    #expect(tail.first == 14)
    #expect(tail.chunks(from: 13).isEmpty)
    #expect(tail.chunks(from: 14).map(\.offsets) == [14..<16, 16..<18, 18..<20])
  }

  @Test func `a chunk over the bound leaves an empty tail that goes on after it`() {
    var tail = Tail(maximumBytes: 1, first: 0)
    tail.append(Self.chunks[0])
    #expect(tail.byteCount == 0)
    #expect(tail.first == 2)
    #expect(tail.chunks(from: 0).isEmpty)
    #expect(tail.chunks(from: 2).isEmpty)
  }

  @Test func `a chunk of marks only is not kept`() {
    var tail = Tail(maximumBytes: 1000, first: 5)
    tail.append(SampleChunks.chunk(first: 5, [[String]]()))
    #expect(tail.byteCount == 0)
    #expect(tail.chunks(from: 5).isEmpty)
  }

  /// A chunk that may be gone.
  private struct Trace { weak var chunk: JournalChunk? }

  @Test(arguments: [1, 20])
  func `what has fallen out is let go soon`(_ batches: Int) {
    let maximum = 5000 * batches
    var traces: [Trace] = []
    var tail = Tail(maximumBytes: maximum, first: 0)
    for number in 0..<300 {
      let names = [[String]](repeating: ["a"], count: batches)
      let chunk = SampleChunks.chunk(first: UInt64(number * batches), names)
      traces.append(Trace(chunk: chunk))
      tail.append(chunk)
    }
    let alive = traces.compactMap(\.chunk)
    #expect(alive.reduce(0) { $0 + $1.memoryBytes } == tail.heldBytes)
    #expect(tail.heldBytes <= maximum * 17 / 16 + (alive.last?.memoryBytes ?? 0))
    #expect(alive.count < 200)
  }

  @Test func `a tail that ran long holds the newest and no more`() {
    var tail = Tail(maximumBytes: 4000, first: 0)
    for number in UInt64(0)..<1000 {
      let chunk = SampleChunks.chunk(first: number, [["a"]])
      tail.append(chunk)
      #expect(tail.byteCount <= 4000)
      #expect(tail.chunks(from: number).map(\.offsets) == [number..<(number + 1)])
      #expect(tail.chunks(from: tail.first).count == Int(number + 1 - tail.first))
    }
  }
}
