internal import BusProtocol
internal import EventCodec
internal import EventJournal
internal import EventModel
internal import Primitives

/// From a checked batch to the journal's open group: names, payloads, offsets, sequences.
extension BrokerCore {
  /// Checks each event of a batch; what is refused is returned by its index.
  ///
  /// Costs one look-up a distinct name and one walk a payload (about 0.1 µs for 200 bytes).
  func check(
    _ batch: Batch, _ bytes: RawSpan, by session: ProducerSession
  ) -> [RefuseMessage.Event] {
    var refused: [RefuseMessage.Event] = []
    let ranges = batch.nameRanges(in: bytes)
    // A person is forgotten by every sink, or the promise is broken.
    let problems = checkNames(
      ranges, bytes, mayForget: session.mayForget && !batch.isAddressed, by: session.holder)
    var payloadAt = batch.payloadsStart
    for index in 0..<batch.eventCount {
      let entry = batch.entry(index, in: bytes, payloadAt: &payloadAt)
      if let (code, text) = problems[entry.name]
        ?? checkPayload(bytes.extracting(entry.payload), bytes.extracting(ranges[entry.name]))
      {
        refused.append(.init(index: index, code: code.rawValue, text: text))
      }
    }
    return refused
  }

  /// What is wrong with each name of a batch. Its new names share what room is left in the table: each
  /// alone would find some, and together they may not.
  private func checkNames(
    _ ranges: [Range<Int>], _ bytes: RawSpan, mayForget: Bool, by holder: AccessHolder?,
    isChecked: Bool = false
  ) -> [(RefusalCode, String)?] {
    var room = max(0, names.limit - names.count)
    return ranges.map { range in
      let name = bytes.extracting(range)
      let isForget = EventName.isForget(name)
      if isForget, !mayForget {
        return (.forbidden, "$forget is published by `eventbus archive forget`, to everybody")
      }
      // The right to forget is the right to administer, and was asked for at the beginning.
      if !isChecked, !isForget, let problem = denial(ofPublishing: name, by: holder) {
        return problem
      }
      if names.find(name) != nil { return nil }
      do {
        if !isForget { try EventName.validate(topic: name) }
      } catch {
        return (.badName, "\(error)")
      }
      guard room > 0 else {
        return (.tooManyNames, "\(names.limit) event names are known; a new one is refused")
      }
      room -= 1
      return nil
    }
  }

  private func checkPayload(_ payload: RawSpan, _ name: RawSpan) -> (RefusalCode, String)? {
    guard payload.byteCount <= configuration.limits.eventBytes else {
      return (
        .tooLarge,
        "the event has \(payload.byteCount) bytes, the limit is \(configuration.limits.eventBytes)"
      )
    }
    do {
      try PayloadWalker.check(payload, name: name, maximumDepth: configuration.limits.depth + 1)
      // Sinks obey it or stop at it, so one that says nobody never gets that far.
      if EventName.isForget(name) { _ = try ForgetRequest(payload: payload) }
      return nil
    } catch {
      return (.badPayload, "\(error)")
    }
  }

  /// Appends a batch that `check` passed to the open group; returns the offset after its last event.
  mutating func append(
    _ bytes: RawSpan, _ batch: Batch, producer: JournalProducer, sequence: UInt64, at now: Int64
  ) -> UInt64 {
    if journal.wouldOverflow(bodyBytes: bytes.byteCount) { closeGroup() }
    let offset = journal.append(
      bytes, count: batch.eventCount, producer: producer, sequence: sequence, time: now)
    number(batch, bytes, at: journal.lastTime)
    openGroup.batchCount += 1
    openGroup.eventCount += batch.eventCount
    openGroup.byteCount += bytes.byteCount
    bytesInFlight += bytes.byteCount
    return offset + UInt64(batch.eventCount)
  }

  /// Gives the events their sequences. Addressed batches have none: the live feed never shows them, so
  /// numbering them would look like a gap.
  private mutating func number(_ batch: Batch, _ bytes: RawSpan, at time: Int64) {
    endSegmentAtForget(batch, bytes)
    var at = batch.firstName
    if batch.nameCount == 1 {
      let id = names.intern(bytes.extracting(batch.nextName(in: bytes, at: &at)))
      let first = batch.isAddressed ? 0 : names.take(batch.eventCount, of: id, at: time)
      openGroup.names.add(id, firstSequence: first)
    } else {
      var counts = [Int](repeating: 0, count: batch.nameCount)
      for index in 0..<batch.eventCount { counts[batch.nameIndex(of: index, in: bytes)] += 1 }
      for count in counts {
        let id = names.intern(bytes.extracting(batch.nextName(in: bytes, at: &at)))
        let first = batch.isAddressed ? 0 : names.take(count, of: id, at: time)
        openGroup.names.add(id, firstSequence: first)
      }
    }
    openGroup.names.endBatch(isAddressed: batch.isAddressed)
  }

  /// What holds a person who is forgotten from now on must age, so no later event may keep it young.
  private mutating func endSegmentAtForget(_ batch: Batch, _ bytes: RawSpan) {
    var at = batch.firstName
    for _ in 0..<batch.nameCount
    where EventName.isForget(bytes.extracting(batch.nextName(in: bytes, at: &at))) {
      journal.endSegment()
    }
  }

  /// Takes what the plain sockets' thread has made of PUB and PUSH messages: batches checked there for
  /// form, here for names. A name too many is refused and counted; nobody can be told.
  mutating func takePlain(_ plain: PlainBatch, at now: Int64) {
    metrics.eventsReceived += UInt64(plain.eventCount)
    if let (code, text) = unwilling(bytes: plain.bytes.count) {
      metrics.eventsRefused += UInt64(plain.eventCount)
      refusals.count(code, on: plain.port, events: plain.eventCount, sample: text)
      return
    }
    let bytes = unsafe plain.bytes.span.bytes
    let batch: Batch
    do throws(ProtocolError) {
      batch = try Batch(checking: bytes)
    } catch {
      preconditionFailure("the plain sockets' thread built a bad batch: \(error)")
    }
    // Whether its sender may publish it, the plain sockets' thread has looked.
    let problems = checkNames(
      batch.nameRanges(in: bytes), bytes, mayForget: false, by: nil, isChecked: true)
    for problem in problems {
      guard let (code, text) = problem else { continue }
      metrics.eventsRefused += UInt64(plain.eventCount)
      return refusals.count(code, on: plain.port, events: plain.eventCount, sample: text)
    }
    _ = append(bytes, batch, producer: .none, sequence: 0, at: now)
  }
}

extension BrokerCore {
  /// Whether the plain sockets should wait: what they bring could only be refused.
  var wantsPlainPaused: Bool {
    isDraining || writeTrouble != nil || retention.refusal != nil
      || bytesInFlight > configuration.ingestBytes / 2
  }

  /// Messages that the plain sockets' thread refused: received, and not stored.
  mutating func plainRefused(_ counts: [RefusalCounts.Key: RefusalCounts.Entry]) {
    let total = counts.values.reduce(0) { $0 + $1.count }
    metrics.eventsReceived += total
    metrics.eventsRefused += total
    refusals.add(counts)
  }
}

/// Events from plain sockets, as a batch.
struct PlainBatch: Sendable {
  var bytes: [UInt8]
  var eventCount: Int
  var port: RefusalCounts.Port
}
