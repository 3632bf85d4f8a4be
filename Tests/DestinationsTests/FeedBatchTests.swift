import BusProtocol
import Primitives
import Testing

@testable import Destinations

struct FeedBatchTests {
  private func batch(_ count: UInt64) -> FeedBatch {
    var batch = FeedBatch(
      entries: (0..<count).map { .event(CoreTrial.event($0, user: 1)) },
      end: Position(epoch: 1, offset: count + 5))
    batch.gap = Position(epoch: 1, offset: 0)
    return batch
  }

  @Test func `a batch comes in parts where there is no room for all of it`() {
    var whole = batch(10)
    let parts = [4, 4, 4].map { whole.takeFirst(events: $0, bytes: 1 << 20) }
    #expect(parts.map(\.entries.count) == [4, 4, 2])
    #expect(parts.map { $0.end?.offset } == [nil, nil, 15])
    #expect(parts.map { $0.gap != nil } == [true, false, false])
    #expect(whole.entries.isEmpty && whole.end == nil)
  }

  @Test func `one event comes even where its bytes have no room`() {
    var whole = batch(3)
    let cost = CoreTrial.event(0, user: 1).cost
    #expect(whole.takeFirst(events: 10, bytes: 0).entries.count == 1)
    #expect(whole.takeFirst(events: 10, bytes: 2 * cost).entries.count == 2)
    #expect(batch(0).entries.isEmpty)
    var empty = batch(0)
    #expect(empty.takeFirst(events: 1, bytes: 1).end?.offset == 5)
  }

  @Test func `the cursor goes with a part's last event, and behind the whole with its end`() {
    var trial = CoreTrial()
    var whole = batch(3)
    trial.core.take(whole.takeFirst(events: 2, bytes: 1 << 20), at: 0)
    #expect(trial.request(.delivered) == [0, 1])
    _ = trial.settlement()
    #expect(trial.cursor == 2)
    trial.core.take(whole.takeFirst(events: 2, bytes: 1 << 20), at: 0)
    #expect(trial.request(.delivered) == [2])
    _ = trial.settlement()
    #expect(trial.cursor == 8)
  }
}
