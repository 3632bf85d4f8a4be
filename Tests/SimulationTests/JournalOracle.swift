import BusProtocol
import EventJournal
import JournalTestSupport
import Primitives

@testable import BusBroker

/// What must hold whatever happened: it reads the journal's files, remembers what was there (retention may
/// take it), and compares that with what the programs know.
///
/// - What was acknowledged is there. Each producer's events are there once, in order, without a hole.
/// - Offsets are dense, and an event that anyone has seen is still at its place.
/// - No stored cursor is ahead of what its subscriber has handled, since the last seek if there was one, nor
///   behind what the subscriber was told is stored.
/// - In the end every subscriber has handled every event it wants.
struct JournalOracle {
  private struct Stored: Equatable {
    var name: String
    var payload: [UInt8]
  }

  /// By offset, from the beginning.
  private var events: [Stored] = []
  private var found: [JournalProducer: [[UInt8]]] = [:]

  mutating func check(
    _ broker: SimulatedBroker, _ producers: [SimulatedProducer],
    _ subscribers: [SimulatedSubscriber]
  ) throws {
    try readJournal(broker)
    for producer in producers {
      let stored = found[producer.id] ?? []
      try require(
        stored.count >= producer.acknowledged,
        "\(producer.acknowledged) of producer \(producer.number) acknowledged, \(stored.count) stored"
      )
      try require(
        stored.elementsEqual(producer.published.prefix(stored.count)),
        "producer \(producer.number)'s \(stored.count) events are not what it published, in order")
    }
    for subscriber in subscribers {
      for (offset, payload) in subscriber.handled {
        try require(
          offset < events.count && events[Int(offset)].payload == payload,
          "'\(subscriber.name)' handled an event at \(offset) that is not there any more")
      }
    }
    try checkCursors(broker, subscribers)
  }

  /// Also before segments are deleted, so that nothing goes unseen.
  mutating func readJournal(_ broker: SimulatedBroker) throws {
    guard let process = broker.process else { return }
    var sequences: [JournalProducer: UInt64] = [:]
    var next = process.journal.earliest
    let head = process.core.journal.durableHead
    try require(next <= events.count, "events from \(events.count) to \(next) went unseen")
    while let chunk = try process.journal.read(from: next, maximumBytes: 4096, upTo: head) {
      for record in chunk.records {
        try require(record.offset == next, "offset \(record.offset) where \(next) is due")
        try require(
          record.sequence > sequences[record.producer] ?? 0,
          "sequence \(record.sequence) of a producer after \(sequences[record.producer] ?? 0)")
        sequences[record.producer] = record.sequence
        try read(record, of: chunk)
        next = record.nextOffset
      }
    }
    try require(head == next, "the head is \(head) after \(next) events")
    try require(events.count == next, "\(events.count) events were seen, \(next) are left")
  }

  private mutating func read(_ record: JournalRecord, of chunk: JournalChunk) throws {
    try chunk.withBody(of: record) { body in
      let batch = try Batch(checking: body)
      let names = batch.nameRanges(in: body)
      var at = batch.payloadsStart
      for index in 0..<batch.eventCount {
        let entry = batch.entry(index, in: body, payloadAt: &at)
        let event = Stored(
          name: String(decoding: body.extracting(names[entry.name]).copied(), as: UTF8.self),
          payload: body.extracting(entry.payload).copied())
        let offset = Int(record.offset) + index
        if offset < events.count {
          try require(events[offset] == event, "another event at \(offset) than before")
        } else {
          events.append(event)
          found[record.producer, default: []].append(event.payload)
        }
      }
    }
  }

  func checkCursors(
    _ broker: SimulatedBroker, _ subscribers: [SimulatedSubscriber]
  ) throws {
    for subscriber in subscribers {
      guard let record = broker.cursors[Array(subscriber.name.utf8)] else {
        try require(
          subscriber.committed == nil, "'\(subscriber.name)' was told of a cursor that is not there"
        )
        continue
      }
      if let committed = subscriber.committed {
        try require(
          record.cursor >= committed,
          "'\(subscriber.name)' was told that \(committed.offset) is stored, and "
            + "\(record.cursor.offset) is")
      }
      // The store may not have the last seek yet.
      let knowsSeek = record.seekGeneration == subscriber.generation
      let handled = knowsSeek ? subscriber.handledSinceSeek : subscriber.handledTo
      try require(
        record.cursor.offset <= handled.offset,
        "the cursor of '\(subscriber.name)' is \(record.cursor.offset), it handled "
          + "\(handled.offset) since seek \(record.seekGeneration)")
    }
  }

  /// For the end, after `check`.
  func checkComplete(_ subscriber: SimulatedSubscriber) throws {
    for (offset, event) in events.enumerated()
    where subscriber.wanted == nil || subscriber.wanted == event.name {
      try require(
        subscriber.handled[UInt64(offset)] != nil
          || subscriber.gaps.contains { $0.contains(UInt64(offset)) },
        "'\(subscriber.name)' never got \(event.name) at \(offset)")
    }
    for offset in subscriber.handled.keys where subscriber.wanted != nil {
      try require(
        subscriber.wanted == events[Int(offset)].name,
        "'\(subscriber.name)' got \(events[Int(offset)].name) at \(offset)")
    }
  }
}
