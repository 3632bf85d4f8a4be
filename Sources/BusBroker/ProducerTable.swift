internal import EventJournal
internal import Primitives

/// What the broker remembers of each producer across its restarts: the sequence of the last batch that
/// it took. Without it, a batch that is sent again after a lost acknowledgement would be stored twice.
///
/// Bounded: at `limit`, producers idle longest are forgotten if they were idle for `idle`; when none
/// was, a new one is refused (TOO_MANY_PRODUCERS).
struct ProducerTable {
  struct Entry: Hashable {
    /// The last batch taken into the journal, durable or not yet.
    var lastSequence: UInt64 = 0
    /// Journal time of that batch, or of the first HELLO.
    var lastTime: Int64
    var events: UInt64 = 0
  }

  let limit: Int
  let idle: Int64
  private(set) var entries: [JournalProducer: Entry] = [:]

  init(limit: Int, idle: Duration) {
    self.limit = limit
    self.idle = idle.nanoseconds
  }

  subscript(id: JournalProducer) -> Entry? { entries[id] }

  /// Makes sure that the producer is known; false when there is no room.
  mutating func admit(_ id: JournalProducer, at time: Int64) -> Bool {
    if entries[id] != nil { return true }
    if entries.count >= limit { forgetIdle(at: time) }
    guard entries.count < limit else { return false }
    entries[id] = Entry(lastTime: time)
    return true
  }

  mutating func took(_ id: JournalProducer, sequence: UInt64, events: Int, at time: Int64) {
    entries[id, default: Entry(lastTime: time)].lastSequence = sequence
    entries[id]!.lastTime = time
    entries[id]!.events += UInt64(events)
  }

  mutating func restore(_ id: JournalProducer, _ entry: Entry) { entries[id] = entry }

  private mutating func forgetIdle(at time: Int64) {
    entries = entries.filter { time - $0.value.lastTime < idle }
  }
}
