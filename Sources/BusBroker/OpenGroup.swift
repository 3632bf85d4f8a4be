internal import EventJournal

/// What the broker keeps beside the journal's group that is being filled: which names each batch has,
/// and whom to tell when it is durable.
struct OpenGroup {
  /// An acknowledgement that waits for the group; one a producer, since they are cumulative.
  struct Acknowledgement {
    var producer: JournalProducer
    var token: UInt64
    /// The producer's last sequence before its first batch in this group.
    var previous: UInt64
    var sequence: UInt64
    var nextOffset: UInt64
    var bytes: Int
  }

  var names = GroupNames()
  var acknowledgements: [Acknowledgement] = []
  var eventCount = 0
  var batchCount = 0
  /// Batch bytes, those of plain sockets included.
  var byteCount = 0

  mutating func acknowledge(
    producer: JournalProducer, token: UInt64, previous: UInt64, sequence: UInt64,
    nextOffset: UInt64, bytes: Int
  ) {
    if let index = acknowledgements.firstIndex(where: { $0.producer == producer }) {
      acknowledgements[index].token = token
      acknowledgements[index].sequence = sequence
      acknowledgements[index].nextOffset = nextOffset
      acknowledgements[index].bytes += bytes
    } else {
      acknowledgements.append(
        Acknowledgement(
          producer: producer, token: token, previous: previous, sequence: sequence,
          nextOffset: nextOffset, bytes: bytes))
    }
  }

  /// The acknowledgement of a producer goes to another session of it.
  mutating func adopt(producer: JournalProducer, token: UInt64) {
    if let index = acknowledgements.firstIndex(where: { $0.producer == producer }) {
      acknowledgements[index].token = token
    }
  }
}

/// A closed group on its way to the disk.
struct PendingGroup {
  var group: JournalGroup
  var open: OpenGroup

  var acknowledgements: [OpenGroup.Acknowledgement] { open.acknowledgements }

  mutating func adopt(producer: JournalProducer, token: UInt64) {
    open.adopt(producer: producer, token: token)
  }
}

/// For each batch of a group, its distinct names and the sequence of each one's first event, in the
/// order of the batch's name table. The live feed numbers events from it.
struct GroupNames: Sendable {
  struct Entry: Hashable, Sendable {
    var name: Int
    var firstSequence: UInt64
  }

  private(set) var entries: [Entry] = []
  /// For batch i, `entries[starts[i]..<starts[i + 1]]`.
  private(set) var starts: [Int] = [0]
  /// The batches that no live subscriber may see: addressed ones.
  private(set) var hidden: Set<Int> = []

  mutating func add(_ name: Int, firstSequence: UInt64) {
    entries.append(Entry(name: name, firstSequence: firstSequence))
  }

  mutating func endBatch(isAddressed: Bool) {
    if isAddressed { hidden.insert(starts.count - 1) }
    starts.append(entries.count)
  }

  subscript(batch index: Int) -> ArraySlice<Entry> { entries[starts[index]..<starts[index + 1]] }
}

/// Durable events as the live feed's thread gets them.
struct LiveGroup: Sendable {
  /// Nil when there is only news about names.
  var chunk: JournalChunk?
  var names: GroupNames
  /// The journal's head after them.
  var head: UInt64
  /// Names new since the group before; their numbers follow on.
  var newNames: [[UInt8]] = []
  /// By name number; empty unless the feed missed something.
  var lastSequences: [UInt64] = []
}
