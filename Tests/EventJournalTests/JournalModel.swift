internal import EventJournal
internal import Primitives

/// What the journal must hold, kept beside it: the oracle of the simulations.
struct JournalModel {
  struct Entry: Equatable {
    var offset: UInt64
    var count: Int
    var epoch: UInt32
    var time: Int64
    var body: [UInt8]
    var producer: JournalProducer
    var sequence: UInt64

    var nextOffset: UInt64 { offset + UInt64(count) }
  }

  struct Place: Hashable {
    var epoch: UInt32
    var offset: UInt64
  }

  /// Everything appended and not known to be lost, in order.
  private(set) var entries: [Entry] = []
  /// Everything below was acknowledged.
  private(set) var acknowledged: UInt64 = 0
  /// Bodies that somebody may have seen.
  private(set) var shown: [Place: [UInt8]] = [:]

  var head: UInt64 { entries.last?.nextOffset ?? 0 }

  mutating func append(_ entry: Entry) { entries.append(entry) }

  mutating func acknowledge(upTo offset: UInt64) {
    for entry in entries.reversed() {
      if entry.offset < acknowledged { break }
      if entry.offset < offset {
        shown[Place(epoch: entry.epoch, offset: entry.offset)] = entry.body
      }
    }
    acknowledged = offset
  }

  /// Takes over what recovery found: the rest is gone.
  mutating func restart(at head: UInt64) throws {
    while let last = entries.last, last.offset >= head { entries.removeLast() }
    try require(self.head == head, "the head \(head) is within a batch")
    acknowledged = head
  }

  /// The highest sequence of each producer: what a snapshot has to carry.
  func tables(upTo offset: UInt64 = .max) -> [JournalProducer: UInt64] {
    var tables: [JournalProducer: UInt64] = [:]
    for entry in entries where entry.offset < offset { tables[entry.producer] = entry.sequence }
    return tables
  }

  /// Checks that `found` is what was appended from `earliest` on.
  func check(_ found: [Entry], earliest: UInt64) throws {
    let expected = entries.filter { $0.offset >= earliest }
    try require(found.count == expected.count, "\(found.count) batches, not \(expected.count)")
    for (found, expected) in zip(found, expected) where found != expected {
      throw SimulationFailure("read \(found), appended \(expected)")
    }
  }

  /// Checks that within each epoch an offset still means what it meant to who saw it.
  func checkForks(_ epochs: [JournalEpoch], earliest: UInt64) throws {
    let bodies = Dictionary(uniqueKeysWithValues: entries.map { ($0.offset, $0.body) })
    for (place, body) in shown where place.offset >= earliest {
      guard let end = epochs.end(of: place.epoch, head: head) else {
        throw SimulationFailure("epoch \(place.epoch) is forgotten")
      }
      if place.offset < end {
        try require(bodies[place.offset] == body, "a fork of \(place) before \(end)")
      }
    }
  }
}

struct SimulationFailure: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
  guard condition else { throw SimulationFailure(message()) }
}

extension Journal {
  /// All batches from the earliest on, read in chunks of `maximumBytes`, which must be dense.
  func entries(upTo limit: UInt64, maximumBytes: Int) throws -> [JournalModel.Entry] {
    var found: [JournalModel.Entry] = []
    var offset = earliest
    while let chunk = try read(from: offset, maximumBytes: maximumBytes, upTo: limit) {
      try require(chunk.offsets.lowerBound == offset, "a chunk at \(chunk.offsets), not \(offset)")
      try require(chunk.lost.isEmpty, "lost \(chunk.lost)")
      for record in chunk.records {
        try require(record.offset == offset, "a hole: \(record.offset) after \(offset)")
        found.append(JournalModel.Entry(record, in: chunk))
        offset = record.nextOffset
      }
      try require(offset == chunk.offsets.upperBound, "a chunk ends at \(chunk.offsets)")
    }
    try require(offset == limit, "read up to \(offset), not \(limit)")
    return found
  }
}

extension JournalModel.Entry {
  init(_ record: JournalRecord, in chunk: JournalChunk) {
    self.init(
      offset: record.offset, count: record.count, epoch: record.epoch, time: record.time,
      body: chunk.withBody(of: record) { $0.copied() }, producer: record.producer,
      sequence: record.sequence)
  }
}
