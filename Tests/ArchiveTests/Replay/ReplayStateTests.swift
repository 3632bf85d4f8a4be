import BusProtocol
import Foundation
import TestSupport
import Testing

@testable import Archive

struct ReplayStateTests {
  private static var sample: ReplayState {
    var state = ReplayState(
      run: 9, from: -5, until: nil, end: Position(epoch: 2, offset: 100))
    state.next = Position(epoch: 1, offset: 44)
    state.acknowledged = 40
    state.refused = 1
    return state
  }

  @Test func `it reads back as it was stored, and the last one counts`() throws {
    let folder = try TemporaryFolder()
    let place = folder.file("replays")
    #expect(try ReplayState.load(place, "a") == nil)
    var state = Self.sample
    try state.store(place, "a")
    #expect(try ReplayState.load(place, "a") == state)
    state.isComplete = true
    state.from = nil
    state.until = .max
    try state.store(place, "a")
    #expect(try ReplayState.load(place, "a") == state)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place) == ["a"])
  }

  @Test func `a file that is cut off or of another version is refused`() throws {
    let text = Self.sample.text
    for end in text.indices where text.distance(from: end, to: text.endIndex) > 2 {
      #expect(ReplayState(text: String(text[..<end])) == nil)
    }
    #expect(ReplayState(text: text.replacingOccurrences(of: "replay 1", with: "replay 2")) == nil)
    #expect(ReplayState(text: text) == Self.sample)
  }
}

struct ReplayProgressTests {
  @Test func `it never says more than what is acknowledged`() {
    var progress = ReplayProgress(next: Position(epoch: 1, offset: 10))
    for offset in 0..<100_000 as Range<UInt64> {
      progress.publish(next: Position(epoch: 1, offset: 11 + offset))
      // The producer is 5,000 events behind.
      if offset >= 5000 {
        progress.acknowledge(offset - 5000)
        #expect(progress.next.offset <= 10 + offset - 5000)
        #expect(progress.next.offset + ReplayProgress.stride >= 10 + offset - 5000)
      }
    }
    progress.settle(through: Position(epoch: 2, offset: 0))
    #expect(progress.next == Position(epoch: 2, offset: 0))
    #expect(progress.published == 100_000)
  }
}
