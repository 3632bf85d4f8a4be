internal import BusProtocol
internal import Primitives

/// A PUBLISH message from when its batch is closed until the broker has it on disk.
///
/// The head of `message` (token, sequence, previous, round) is stamped when it is sent, so a batch can
/// wait before there is a session, and be sent again in the next one, without being copied.
struct OutgoingBatch: Sendable {
  var message: [UInt8]
  var events: Int
  /// Names and payloads: what the batch counts for at the producer's bound; 0 when it came from the
  /// spool, which has a bound of its own.
  var cost: Int
  /// Bytes of its largest event.
  var largestEvent: Int
  /// 0 until it is first sent, unless the caller numbers its events.
  var sequence: UInt64 = 0
  /// The caller's numbers, one an event; empty when it gave none.
  var eventSequences: [UInt64] = []
  /// Whose events they are; empty for what nobody waits for.
  var tickets = TicketRuns()
  /// Its row in the spool, if it stands there.
  var row: Int64?
  var wasSent = false

  /// A message of `builder`'s events, which is empty afterwards.
  init(
    taking builder: inout BatchBuilder, cost: Int, largestEvent: Int, eventSequences: [UInt64] = [],
    addressees: [[UInt8]] = []
  ) {
    events = builder.eventCount
    self.cost = cost
    self.largestEvent = largestEvent
    self.eventSequences = eventSequences
    sequence = eventSequences.last ?? 0
    message = []
    message.reserveCapacity(PublishMessage.batchStart + builder.byteCount)
    PublishMessage(sequence: sequence, previous: 0, round: 0).encode(token: 0, into: &message)
    builder.build(into: &message, addressees: addressees)
  }

  /// A message read from the spool; the caller checked the batch in it.
  init(message: [UInt8], batch: Batch, sequence: UInt64, row: Int64) {
    self.message = message
    events = batch.eventCount
    self.sequence = sequence
    self.row = row
    cost = 0
    largestEvent = 0
    forEachEvent { _, _, payload in largestEvent = max(largestEvent, payload.byteCount) }
  }

  var batchBytes: Int { message.count - PublishMessage.batchStart }

  mutating func stamp(token: UInt64, previous: UInt64, round: UInt32) {
    message.storeBigEndian(sequence, at: MessageHeader.byteCount)
    PublishMessage.restamp(&message, token: token, previous: previous, round: round)
    wasSent = true
  }

  /// Who alone gets the events; empty: everybody. Read from the message, so that a batch keeps them
  /// through the spool and through every cut.
  var addressees: [[UInt8]] {
    let bytes = unsafe message.span.bytes.extracting(PublishMessage.batchStart..<message.count)
    return Self.checked(bytes).addresseeRanges(in: bytes).map { bytes.extracting($0).copied() }
  }

  private static func checked(_ bytes: RawSpan) -> Batch {
    do throws(ProtocolError) {
      return try Batch(checking: bytes)
    } catch {
      preconditionFailure("a batch that this client built does not check: \(error)")
    }
  }

  /// Calls `body` with index, name and payload of each event.
  func forEachEvent(_ body: (Int, RawSpan, RawSpan) -> Void) {
    let bytes = unsafe message.span.bytes.extracting(PublishMessage.batchStart..<message.count)
    let batch = Self.checked(bytes)
    let names = batch.nameRanges(in: bytes)
    var at = batch.payloadsStart
    for index in 0..<batch.eventCount {
      let entry = batch.entry(index, in: bytes, payloadAt: &at)
      body(index, bytes.extracting(names[entry.name]), bytes.extracting(entry.payload))
    }
  }

  /// The events that `isWanted` by index, as a batch of its own with the same sequence; nil when none.
  func keeping(_ isWanted: (Int) -> Bool) -> OutgoingBatch? {
    var builder = BatchBuilder()
    var sequences: [UInt64] = []
    var cost = 0
    var largest = 0
    var tickets = TicketRuns()
    forEachEvent { index, name, payload in
      guard isWanted(index) else { return }
      if let (ticket, place) = self.tickets.ticket(at: index) {
        tickets.append(ticket, index: place, before: builder.eventCount)
      } else {
        tickets.append(nil, index: 0, before: builder.eventCount)
      }
      builder.payloads.append(payload)
      builder.append(name: name)
      if !eventSequences.isEmpty { sequences.append(eventSequences[index]) }
      cost += name.byteCount + payload.byteCount
      largest = max(largest, payload.byteCount)
    }
    guard !builder.isEmpty else { return nil }
    var kept = OutgoingBatch(
      taking: &builder, cost: self.cost == 0 ? 0 : cost, largestEvent: largest,
      eventSequences: sequences, addressees: addressees)
    // Even without its last event it stands for all numbers up to the batch's own.
    kept.sequence = sequence
    kept.tickets = tickets
    kept.row = row
    kept.wasSent = wasSent
    return kept
  }

  /// Those of the refused events that somebody waits for.
  func refusals(_ events: [RefuseMessage.Event]) -> [TicketRefusal] {
    guard !tickets.isEmpty else { return [] }
    return events.compactMap { event in
      tickets.ticket(at: event.index).map {
        TicketRefusal(ticket: $0.ticket, index: $0.index, code: event.code, text: event.text)
      }
    }
  }

  /// Event `index` as it is reported when it was refused.
  func refused(_ events: [RefuseMessage.Event]) -> [RefusedEvent] {
    var reasons: [Int: RefuseMessage.Event] = [:]
    for event in events { reasons[event.index] = event }
    var refused: [RefusedEvent] = []
    forEachEvent { index, name, payload in
      guard let reason = reasons[index] else { return }
      refused.append(
        RefusedEvent(
          name: name.copied(), payload: payload.copied(), code: reason.code, text: reason.text,
          sequence: eventSequences.isEmpty ? nil : eventSequences[index]))
    }
    return refused
  }
}
