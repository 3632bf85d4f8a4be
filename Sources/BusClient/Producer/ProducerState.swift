internal import BusProtocol
internal import EventCodec
internal import EventModel
internal import Primitives

/// What publishers and the producer's thread share, under one lock: the open batch, the closed ones on
/// their way to the thread, and the counts.
struct ProducerState: Sendable {
  /// What the thread does, so that publishers wake it only when that changes something.
  enum LoopActivity: Sendable {
    case busy
    /// Asleep; one event is news.
    case idle
    /// Asleep until the open batch has lingered; only a full one is news.
    case lingering
    case ended
  }

  struct FlushWaiter: Sendable {
    var target: UInt64
    var deadline: Int64
    var answer: @Sendable (FlushResult) -> Void
  }

  let batchEvents: Int
  let batchBytes: Int
  let maximumEvents: Int
  let maximumBytes: Int
  let addressees: [[UInt8]]

  var builder = BatchBuilder()
  /// Borrows the builder's bytes for each typed event, so that it is written where it travels.
  var encoder = EventEncoder()
  var identity: EventIdentity
  var openCost = 0
  var openLargest = 0
  var openSequences: [UInt64] = []
  var openTickets = TicketRuns()
  var openedAt: Int64 = 0
  var closed: [OutgoingBatch] = []
  var memoryEvents = 0
  var memoryBytes = 0
  var limits = BusLimits()
  var lastEventSequence: UInt64 = 0
  var storedSequence: UInt64?
  var counters = ProducerCounters()
  var activity = LoopActivity.busy
  var roomWaiters = 0
  var isSpoolFull = false
  var flushes: [FlushWaiter] = []
  var isClosing = false
  /// Why the broker does not let the producer in; nil while it does, and before it was asked.
  var denial: String?
  var link: BusLink
  var closeDeadline = Int64.max
  var failure: BusClientError?

  init(_ configuration: ProducerConfiguration) throws(BusClientError) {
    link = BusLink(address: configuration.address)
    addressees = try configuration.checkedAddressees()
    identity = EventIdentity(
      userId: configuration.userID, anonymousId: configuration.anonymousID)
    batchEvents = max(1, min(configuration.batchEvents, 65_535))
    batchBytes = max(1, configuration.batchBytes)
    maximumEvents = max(1, configuration.maximumEvents)
    maximumBytes = max(1, configuration.maximumBytes)
  }

  /// One event may overshoot, so that the bound need not know its size beforehand.
  var hasRoom: Bool { memoryEvents < maximumEvents && memoryBytes < maximumBytes }

  /// Encodes an event straight into the open batch; true when the thread must be woken.
  mutating func append(_ event: some PublishableEvent) throws(BusClientError) -> Bool {
    let time = event.eventTimestamp ?? Timestamp(nanoseconds: SystemClock.realtime())
    swap(&encoder.bytes, &builder.payloads)
    let range: Range<Int>
    do throws(EventEncodingError) {
      range = try encoder.append(event, identity: identity, time: time)
    } catch {
      swap(&encoder.bytes, &builder.payloads)
      throw .invalidEvent(code: .badPayload, text: error.description)
    }
    swap(&encoder.bytes, &builder.payloads)
    var name = event.eventType.rawValue
    return try name.withUTF8Span { name throws(BusClientError) in
      try closeEvent(name: name, payloadBytes: range.count, sequence: nil)
    }
  }

  /// Takes in the event whose payload was just appended to `builder.payloads`; true when the thread
  /// must be woken.
  mutating func closeEvent(
    name: RawSpan, payloadBytes: Int, sequence: UInt64?
  ) throws(BusClientError) -> Bool {
    if let problem = limits.problem(name: name, payloadBytes: payloadBytes) {
      builder.abandon()
      throw problem
    }
    builder.append(name: name)
    return account(nameBytes: name.byteCount, payloadBytes: payloadBytes, sequence: sequence)
  }

  /// Takes in events that have a ticket; true when the thread must be woken. Those that break a limit
  /// are refused through the ticket.
  mutating func append(_ events: EncodedEvents, _ ticket: PublishTicket) -> Bool {
    var wakes = false
    for index in 0..<events.count {
      let name = events.name(of: index)
      let range = events.range(of: index)
      if case .invalidEvent(let code, let text) = unsafe limits.problem(
        name: name.span.bytes, payloadBytes: range.count)
      {
        ticket.refuse(index, code: code.rawValue, text: text)
        continue
      }
      openTickets.append(ticket, index: index, before: builder.eventCount)
      unsafe builder.payloads.append(events.payloads.span.bytes.extracting(range))
      builder.append(name: name)
      let isNews = account(nameBytes: name.count, payloadBytes: range.count, sequence: nil)
      wakes = wakes || isNews
    }
    return wakes
  }

  private mutating func account(nameBytes: Int, payloadBytes: Int, sequence: UInt64?) -> Bool {
    if !openTickets.isEmpty, openTickets.count < builder.eventCount {
      openTickets.append(nil, index: 0, before: 0)
    }
    if let sequence {
      precondition(
        sequence > lastEventSequence, "event sequence \(sequence) after \(lastEventSequence)")
      precondition(
        openSequences.count == builder.eventCount - 1, "all events are numbered, or none")
      lastEventSequence = sequence
      openSequences.append(sequence)
    }
    let cost = nameBytes + payloadBytes
    openCost += cost
    openLargest = max(openLargest, payloadBytes)
    memoryEvents += 1
    memoryBytes += cost
    counters.published += 1
    if builder.eventCount >= batchEvents || openCost >= batchBytes {
      closeBatch()
      return wakesFor(.busy)
    }
    guard builder.eventCount == 1 else { return false }
    openedAt = SystemClock.monotonic()
    return activity == .idle ? wakesFor(.busy) : false
  }

  /// Whether the thread sleeps; it counts as awake from now on.
  mutating func wakesFor(_ next: LoopActivity) -> Bool {
    guard activity == .idle || activity == .lingering else { return false }
    activity = next
    return true
  }

  mutating func closeBatch() {
    guard !builder.isEmpty else { return }
    closed.append(
      OutgoingBatch(
        taking: &builder, cost: openCost, largestEvent: openLargest,
        eventSequences: openSequences, addressees: addressees))
    closed[closed.count - 1].tickets = openTickets
    openTickets.removeAll()
    openCost = 0
    openLargest = 0
    openSequences.removeAll(keepingCapacity: true)
  }

  var settled: UInt64 { counters.acknowledged + counters.refused + counters.damaged }

  var flushResult: FlushResult {
    FlushResult(
      acknowledged: counters.acknowledged, refused: counters.refused, damaged: counters.damaged,
      unacknowledged: counters.unacknowledged, spooled: counters.inSpool, failure: failure)
  }
}

extension BusLimits {
  /// Why an event cannot be sent, if so.
  func problem(name: RawSpan, payloadBytes: Int) -> BusClientError? {
    if name.byteCount == 0 || name.byteCount > nameBytes {
      return .invalidEvent(
        code: .badName, text: "a name of \(name.byteCount) bytes; 1 to \(nameBytes) are allowed")
    }
    if payloadBytes > eventBytes {
      return .invalidEvent(
        code: .tooLarge, text: "an event of \(payloadBytes) bytes; \(eventBytes) are allowed")
    }
    return nil
  }
}
