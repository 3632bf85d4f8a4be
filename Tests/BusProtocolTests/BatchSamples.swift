import Primitives

@testable import BusProtocol

/// A batch taken apart: what `Batch` says of some bytes.
struct BatchContent: Equatable {
  struct Event: Equatable {
    var name: [UInt8]
    var payload: [UInt8]
    var distance: Int?
  }

  var addressees: [[UInt8]] = []
  var events: [Event] = []

  init(addressees: [[UInt8]] = [], events: [Event]) {
    self.addressees = addressees
    self.events = events
  }

  /// Reads every part of a batch, so that a range outside the bytes would trap.
  init(reading bytes: RawSpan) throws(ProtocolError) {
    let batch = try Batch(checking: bytes)
    let names = batch.nameRanges(in: bytes).map { bytes.extracting($0).copied() }
    addressees = batch.addresseeRanges(in: bytes).map { bytes.extracting($0).copied() }
    var at = batch.payloadsStart
    for index in 0..<batch.eventCount {
      let entry = batch.entry(index, in: bytes, payloadAt: &at)
      events.append(
        Event(
          name: names[entry.name], payload: bytes.extracting(entry.payload).copied(),
          distance: batch.hasDistances ? entry.distance : nil))
    }
  }

  func encode() -> [UInt8] {
    var builder = BatchBuilder()
    for event in events {
      builder.payloads.append(contentsOf: event.payload)
      builder.append(name: event.name, distance: event.distance)
    }
    var bytes: [UInt8] = []
    builder.build(into: &bytes, addressees: addressees)
    return bytes
  }

  static let plain = BatchContent(events: [
    Event(name: Array("a".utf8), payload: [1, 2, 3]),
    Event(name: Array("bc".utf8), payload: []),
    Event(name: Array("a".utf8), payload: [4]),
  ])

  static let addressed = BatchContent(
    addressees: [Array("archive".utf8), Array("sums".utf8)],
    events: [
      Event(name: Array("Game Started".utf8), payload: [9, 9], distance: 4),
      Event(name: Array("Game Ended".utf8), payload: [7], distance: 300),
    ])
}

extension Sample {
  static let batch = Sample("batch", batch: .plain)
  static let addressedBatch = Sample("addressed batch", batch: .addressed)

  static let publish: Sample = {
    var bytes: [UInt8] = []
    PublishMessage(sequence: 9, previous: 8, round: 1).encode(token: 0x77, into: &bytes)
    bytes += BatchContent.plain.encode()
    return Sample("publish", bytes) {
      let span = unsafe $0.span.bytes
      let message = try PublishMessage(decoding: span)
      let batch = try BatchContent(
        reading: span.extracting(PublishMessage.batchStart..<span.byteCount))
      var again: [UInt8] = []
      message.encode(token: try MessageHeader(decoding: span).token, into: &again)
      return again + batch.encode()
    }
  }()

  static let delivery: Sample = {
    let batches = [BatchContent.plain.encode(), BatchContent.addressed.encode()]
    var bytes: [UInt8] = []
    DeliveryMessage.begin(MessageHeader(.batch, token: 5), into: &bytes)
    for (index, batch) in batches.enumerated() {
      Delivery(epoch: 1, base: UInt64(index) * 3, time: -1, range: 0..<batch.count)
        .encodeHeader(into: &bytes)
      bytes += batch
    }
    DeliveryMessage.finish(&bytes, scannedTo: Position(epoch: 1, offset: 304), deliveries: 2)
    return Sample("delivery", bytes) {
      let span = unsafe $0.span.bytes
      let message = try DeliveryMessage(decoding: span)
      var again: [UInt8] = []
      DeliveryMessage.begin(
        MessageHeader(.batch, token: try MessageHeader(decoding: span).token), into: &again)
      for var delivery in message.deliveries {
        let batch = try BatchContent(reading: span.extracting(delivery.range)).encode()
        // A name that no event has any more is not written again.
        delivery.range = 0..<batch.count
        delivery.encodeHeader(into: &again)
        again += batch
      }
      DeliveryMessage.finish(
        &again, scannedTo: message.scannedTo, deliveries: message.deliveries.count)
      return again
    }
  }()

  private init(_ name: String, batch content: BatchContent) {
    self.init(name, content.encode()) {
      try BatchContent(reading: unsafe $0.span.bytes).encode()
    }
  }
}
