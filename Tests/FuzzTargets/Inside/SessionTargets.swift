// A client of the bus, whatever its broker tells it.
//
//   producer    [what u8][length u16][message]...: each event is acknowledged, refused, or still waits
//               what: bit 0 puts the session's token in; 1 three seconds pass; 2 another batch; 3 the
//               socket is full
//   subscriber  the same: what is handed out never goes back, but where an operator moved the cursor
//               what: bit 0 as above; 1 three seconds; 2 the program takes what it was handed; 3 it commits
//   live-feed   [u8][length u16]([topic length u8][topic][32 bytes][payload])...: what is lost lies between
//               what came
#if DEBUG || FUZZING
  @testable internal import BusClient
  internal import BusProtocol
  internal import Primitives

  let sessionTargets = [
    FuzzTarget("producer", seeds: producerTalks, run: produce),
    FuzzTarget("subscriber", seeds: subscriberTalks, run: subscribe),
    FuzzTarget("live-feed", seeds: feeds, run: follow),
  ]

  // Producer

  func batch(_ events: Int, sequences: [UInt64] = []) -> OutgoingBatch {
    var builder = BatchBuilder()
    for index in 0..<events {
      builder.payloads += [0x81, 0xA1, 0x61, UInt8(index)]
      builder.append(name: Array("A\(index)".utf8))
    }
    return OutgoingBatch(
      taking: &builder, cost: 6 * events, largestEvent: 4, eventSequences: sequences)
  }

  private func talk(_ steps: [(UInt8, [UInt8])]) -> [UInt8] {
    steps.flatMap { what, message in
      [what, UInt8(message.count >> 8), UInt8(message.count & 0xFF)] + message
    }
  }

  private func welcome(stored: UInt64, _ broker: BrokerDescription = .init()) -> [UInt8] {
    WelcomeMessage(
      token: 9, epoch: 1, storedSequence: stored, windowBytes: 1 << 16, broker: broker
    ).encode()
  }

  private let producerTalks: [[UInt8]] = {
    var small = BrokerDescription()
    small.limits.eventBytes = 3
    small.limits.batchEvents = 1
    func refusal(_ code: RefusalCode, _ sequence: UInt64, events: [Int] = []) -> [UInt8] {
      var refusal = RefuseMessage(token: 9, code: code, text: "t")
      refusal.sequence = sequence
      refusal.round = 1
      refusal.lastSequence = 1
      refusal.retryAfter = .milliseconds(5)
      refusal.events = events.map { .init(index: $0, code: code.rawValue, text: "t") }
      return refusal.encode()
    }
    let acknowledgement = AcknowledgeMessage(
      sequence: 1, nextOffset: 3, windowBytes: 1 << 16
    ).encode(token: 9)
    return [
      talk([
        (4, welcome(stored: 0)), (4, []), (4, []), (5, acknowledgement), (1, refusal(.overload, 2)),
        (3, refusal(.badPayload, 3, events: [1])), (1, refusal(.sequenceGap, 3)), (2, []),
        (7, acknowledgement),
      ]),
      talk([
        (4, welcome(stored: 1)), (4, []), (1, MessageHeader(.reset).message),
        (12, welcome(stored: 40)), (4, []), (1, MessageHeader(.bye).message), (2, []),
        (4, welcome(stored: 0, small)), (4, []), (1, MessageHeader(.fenced).message),
      ]),
      talk([(0, refusal(.draining, 0)), (2, []), (6, welcome(stored: 12, small)), (4, [])]),
    ]
  }()

  private func produce(_ input: [UInt8]) throws(Violation) {
    var core = ProducerCore(
      .init(client: "c", producer: spoolIdentity, instance: [2], maximumInFlight: 3), seed: 1)
    var now: Int64 = 1
    var published = 0
    var settled = 0
    // A program numbers all of its events, or none.
    let isNumbered = input.count % 2 == 1
    for (what, bytes) in steps(input) {
      var message = bytes
      if what & 1 != 0, message.count >= MessageHeader.byteCount {
        message.storeBigEndian(core.token, at: 4)
      }
      if what & 2 != 0 { now += 3_000_000_000 }
      if what & 4 != 0, core.phase != .ended {
        let first = core.lastSequence
        core.enqueue(batch(2, sequences: isNumbered ? [first + 1, first + 2] : []))
        published += 2
      }
      unsafe core.receive(message.span.bytes, at: now)
      _ = core.tick(at: now)
      while core.sendNext(at: now, { _ in what & 8 == 0 }) {}
      for action in core.takeActions() {
        switch action {
        case .send(let sent):
          try accepted("what it sent") { () throws(ProtocolError) in
            _ = try unsafe MessageHeader(decoding: sent.span.bytes)
          }
        case .acknowledged(let events, _, _): settled += events
        case .refused(let events, _, _): settled += events.count
        default: break
        }
      }
      let waiting = (0..<core.queue.count).map { core.queue[$0] }
      let events = waiting.reduce(0) { $0 + $1.events }
      try require(
        published == settled + events && core.queuedEvents == events,
        "\(published) published, \(settled) settled, \(events) wait, \(core.queuedEvents) counted")
      let flying = waiting.prefix(core.sent)
      try require(
        core.bytesInFlight == flying.reduce(0) { $0 + $1.batchBytes }, "\(core.bytesInFlight)")
      let numbers = flying.map(\.sequence)
      try require(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "\(numbers)")
    }
  }

  // Subscriber

  private let subscriberTalks: [[UInt8]] = {
    func opened(_ offset: UInt64, generation: UInt64) -> [UInt8] {
      OpenedMessage(
        token: 7, cursor: Position(epoch: 1, offset: offset), earliest: 0, head: 9,
        seekGeneration: generation, epochs: [.init(epoch: 1, firstOffset: 0)],
        broker: BrokerDescription()
      ).encode()
    }
    func delivery(_ base: UInt64, epoch: UInt32 = 1) -> [UInt8] {
      var bytes: [UInt8] = []
      DeliveryMessage.begin(MessageHeader(.batch, token: 7), into: &bytes)
      var events: [UInt8] = []
      var builder = BatchBuilder()
      builder.payloads = [0x81, 0xA1, 0x61, 0, 0x81, 0xA1, 0x61]
      builder.append(name: [0x41], distance: 0)
      builder.payloads.append(1)
      builder.append(name: [0x42], distance: 4)
      builder.build(into: &events)
      Delivery(epoch: epoch, base: base, time: 4, range: 0..<events.count)
        .encodeHeader(into: &bytes)
      bytes += events
      DeliveryMessage.finish(
        &bytes, scannedTo: Position(epoch: epoch, offset: base + 5), deliveries: 1)
      return bytes
    }
    let position = Position(epoch: 1, offset: 20)
    return [
      talk([
        (0, opened(2, generation: 1)), (4, delivery(0)), (12, delivery(5)),
        (1, CommitMessage(cursor: Position(epoch: 1, offset: 10)).encode(.committed, token: 7)),
        (1, HeadMessage(head: 12, lag: 0).encode(token: 7)), (5, delivery(12)),
        (1, MessageHeader(.reset).message), (8, opened(3, generation: 2)), (12, delivery(3)),
      ]),
      talk([
        (0, opened(0, generation: 0)),
        (1, GapMessage(token: 7, from: position, to: position, why: "retention").encode()),
        (4, delivery(20, epoch: 2)), (1, MessageHeader(.bye).message), (2, []), (2, []),
        (0, RefuseMessage(token: 7, code: .overload, text: "t").encode()), (3, []), (0x10, []),
      ]),
    ]
  }()

  private func subscribe(_ input: [UInt8]) throws(Violation) {
    let named = input.count % 2 == 0
    var core = SubscriberCore(
      .init(
        client: "c", name: named ? [0x73] : [], filters: [],
        start: named
          ? .cursor(otherwise: .latest) : .position(Position(epoch: 1, offset: 1)),
        seekGeneration: nil, reset: false, instance: [1], creditEvents: 100, creditBytes: 1 << 16,
        stopsAtGap: false), seed: 1)
    var now: Int64 = 1
    var end: Position?
    var waiting: [EventBatch] = []
    for (what, bytes) in steps(input) {
      var message = bytes
      if what & 1 != 0, message.count >= MessageHeader.byteCount {
        message.storeBigEndian(core.token, at: 4)
      }
      if what & 2 != 0 { now += 3_000_000_000 }
      unsafe core.receive(message.span.bytes, at: now)
      _ = core.tick(at: now)
      for action in core.takeActions() {
        guard case .deliver(let batch) = action else { continue }
        if let seek = batch.seek { end = seek.to }
        try check(batch, after: end)
        end = batch.end
        waiting.append(batch)
      }
      if what & 4 != 0 {
        for batch in waiting { core.take(events: batch.creditEvents, bytes: batch.messageBytes) }
        waiting = []
        core.grantCredit()
      }
      if what & 8 != 0, let end { core.commit(end) }
    }
    let events = waiting.reduce(0) { $0 + $1.creditEvents }
    try require(core.waitingEvents == events, "\(core.waitingEvents) wait, not \(events)")
  }

  private func check(_ batch: EventBatch, after end: Position?) throws(Violation) {
    let start = end ?? Position(epoch: 0, offset: 0)
    try require(batch.end >= start, "it ends at \(batch.end), and began at \(start)")
    var count = 0
    try batch.forEach { place, name, payload throws(Violation) in
      count += 1
      try require(place.position >= start, "\(place.position) comes after \(start)")
      _ = name.byteCount + payload.byteCount
    }
    try require(count == batch.count, "\(count) events of \(batch.count)")
    _ = batch.events
  }

  // Live feed

  private let feeds: [[UInt8]] = {
    func message(_ topic: String, _ offset: UInt64, _ sequence: UInt64) -> [UInt8] {
      var meta: [UInt8] = []
      LiveMeta(epoch: 1, offset: offset, sequence: sequence, time: 5).encode(into: &meta)
      let topic = Array(topic.utf8) + [0]
      return talk([(0, [UInt8(topic.count)] + topic + meta + [0x80])])
    }
    return [
      message("$HEAD/A", 0, 0) + message("A", 1, 1) + message("A", 7, 4)
        + message("$HEAD/A", 9, 6) + message("A", 8, 5),
      message("A", 1, .max) + message("A", 2, .max) + message("A", .max, 1) + message("B", 1, 1),
    ]
  }()

  private func follow(_ input: [UInt8]) throws(Violation) {
    var core = LiveCore()
    for (_, message) in steps(input) {
      let topic = Array(message.dropFirst().prefix(Int(message.first ?? 0)))
      let meta = Array(message.dropFirst(1 + topic.count).prefix(LiveMeta.byteCount))
      let payload = Array(message.dropFirst(1 + topic.count + meta.count))
      let items = unsafe core.receive(topic.span.bytes, payload.span.bytes, meta.span.bytes)
      for case .lost(_, let from, let to, _, _) in items {
        try require(from < to, "\(from) to \(to) are lost")
      }
    }
  }
#endif
