import BusProtocol
import EventJournal
import JournalTestSupport
import Primitives

@testable import BusBroker

/// What must hold whatever happened: it reads the journal's files and compares them with what the
/// programs know.
///
/// - What was acknowledged is there. Each producer's events are there once, in order, without a hole.
/// - Offsets are dense, and an event that anyone has seen is still at its place.
/// - No stored cursor is ahead of what its subscriber has handled.
/// - In the end every subscriber has handled every event it wants.
struct JournalOracle {
  private struct Stored {
    var name: String
    var payload: [UInt8]
  }

  private var events: [Stored] = []

  mutating func check(
    _ broker: SimulatedBroker, _ producers: [SimulatedProducer],
    _ subscribers: [SimulatedSubscriber]
  ) throws {
    var found: [JournalProducer: [[UInt8]]] = [:]
    try readJournal(broker, &found)
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

  private mutating func readJournal(
    _ broker: SimulatedBroker, _ found: inout [JournalProducer: [[UInt8]]]
  ) throws {
    guard let process = broker.process else { return }
    var sequences: [JournalProducer: UInt64] = [:]
    events = []
    let head = process.core.journal.durableHead
    while let chunk = try process.journal.read(
      from: UInt64(events.count), maximumBytes: 4096, upTo: head)
    {
      for record in chunk.records {
        try require(
          record.offset == events.count, "offset \(record.offset) after \(events.count) events")
        try require(
          record.sequence > sequences[record.producer] ?? 0,
          "sequence \(record.sequence) of a producer after \(sequences[record.producer] ?? 0)")
        sequences[record.producer] = record.sequence
        try chunk.withBody(of: record) { body throws(ProtocolError) in
          let batch = try Batch(checking: body)
          let names = batch.nameRanges(in: body)
          var at = batch.payloadsStart
          for index in 0..<batch.eventCount {
            let entry = batch.entry(index, in: body, payloadAt: &at)
            let name = body.extracting(names[entry.name]).copied()
            let payload = body.extracting(entry.payload).copied()
            events.append(Stored(name: String(decoding: name, as: UTF8.self), payload: payload))
            found[record.producer, default: []].append(payload)
          }
        }
      }
    }
    try require(head == events.count, "the head is \(head) after \(events.count) events")
  }

  func checkCursors(
    _ broker: SimulatedBroker, _ subscribers: [SimulatedSubscriber]
  ) throws {
    for subscriber in subscribers {
      guard let record = broker.cursors[Array(subscriber.name.utf8)] else { continue }
      try require(
        record.cursor.offset <= subscriber.handledTo.offset,
        "the cursor of '\(subscriber.name)' is \(record.cursor.offset), it handled "
          + "\(subscriber.handledTo.offset)")
    }
  }

  /// For the end, after `check`.
  func checkComplete(_ subscriber: SimulatedSubscriber) throws {
    for (offset, event) in events.enumerated()
    where subscriber.wanted == nil || subscriber.wanted == event.name {
      try require(
        subscriber.handled[UInt64(offset)] != nil,
        "'\(subscriber.name)' never got \(event.name) at \(offset)")
    }
    let wanted = events.count { subscriber.wanted == nil || subscriber.wanted == $0.name }
    try require(
      subscriber.handled.count == wanted,
      "'\(subscriber.name)' got \(subscriber.handled.count) events, \(wanted) match")
  }
}
