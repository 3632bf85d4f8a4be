import BusProtocol
import Primitives
import Testing

@testable import BusClient

/// A broker's ingest in twenty lines: stores what follows the last sequence, and can lose its session.
private struct FakeBroker {
  var stored: [String] = []
  var last: UInt64 = 0
  var token: UInt64 = 0
  var replies: [[UInt8]] = []

  mutating func receive(_ message: [UInt8]) throws {
    let span = unsafe message.span.bytes
    let header = try MessageHeader(decoding: span)
    switch header.verb {
    case .hello:
      token += 1
      replies.append(
        WelcomeMessage(
          token: token, epoch: 1, storedSequence: last, windowBytes: 1 << 20,
          broker: BrokerDescription()
        ).encode())
    case _ where header.token != token:
      replies.append(MessageHeader(.reset, token: header.token).message)
    case .ping: replies.append(MessageHeader(.pong, token: token).message)
    case .publish: try publish(span)
    default: break
    }
  }

  private mutating func publish(_ message: RawSpan) throws {
    let publish = try PublishMessage(decoding: message)
    if publish.sequence > last {
      guard publish.previous == last else {
        var refusal = RefuseMessage(token: token, code: .sequenceGap, text: "")
        refusal.sequence = publish.sequence
        refusal.round = publish.round
        refusal.lastSequence = last
        return replies.append(refusal.encode())
      }
      let bytes = message.extracting(PublishMessage.batchStart..<message.byteCount)
      let batch = try Batch(checking: bytes)
      var at = batch.payloadsStart
      for index in 0..<batch.eventCount {
        let entry = batch.entry(index, in: bytes, payloadAt: &at)
        let text = bytes.extracting(entry.payload).copied()
        stored.append(String(decoding: text, as: UTF8.self))
      }
      last = publish.sequence
    }
    replies.append(
      AcknowledgeMessage(sequence: last, nextOffset: 0, windowBytes: 1 << 20).encode(token: token))
  }
}

struct ProducerCoreTests {
  private func batch(_ number: Int) -> OutgoingBatch {
    var builder = BatchBuilder()
    builder.payloads.append(contentsOf: "\(number)".utf8)
    builder.append(name: Array("A".utf8))
    return OutgoingBatch(taking: &builder, cost: 2, largestEvent: 8)
  }

  @Test(arguments: 0..<200)
  func `every batch is stored once and in order whatever is lost`(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    var core = ProducerCore(
      .init(client: "t", producer: [1], instance: [2]), seed: UInt64(seed))
    // HELLO must carry 16 bytes; the fake does not read it.
    var broker = FakeBroker()
    var now: Int64 = 0
    var published = 0
    var acknowledged = 0
    for step in 0..<100_000 {
      now += Int64.random(in: 0...200_000_000, using: &random)
      // Losses end, so that the run can come to its end.
      let losing = step < 2000
      if published < 100, Bool.random(using: &random) {
        core.enqueue(batch(published))
        published += 1
      }
      _ = core.tick(at: now)
      while try core.sendNext(
        at: now,
        { span in
          if !losing || Int.random(in: 0..<20, using: &random) > 0 {
            try broker.receive(span.copied())
          }
          return true
        })
      {}
      for action in core.takeActions() {
        switch action {
        case .send(let bytes): try broker.receive(bytes)
        case .reconnect: broker.replies = []
        case .acknowledged(let events, _, _): acknowledged += events
        default: break
        }
      }
      if losing, Int.random(in: 0..<100, using: &random) == 0 { broker.token += 1 }
      let replies = broker.replies
      broker.replies = []
      for reply in replies where !losing || Int.random(in: 0..<20, using: &random) > 0 {
        unsafe core.receive(reply.span.bytes, at: now)
      }
      if published == 100, core.queue.isEmpty { break }
    }
    for case .acknowledged(let events, _, _) in core.takeActions() { acknowledged += events }
    #expect(broker.stored == (0..<100).map(String.init))
    #expect(acknowledged == 100)
    #expect(core.bytesInFlight == 0)
    #expect(core.queuedCost == 0)
  }

  @Test func `a broker that leaves no room for a sequence is told of`() {
    var core = ProducerCore(
      .init(client: "c", producer: [UInt8](repeating: 1, count: 16), instance: [1]), seed: 1)
    core.enqueue(batch(1))
    let welcome = WelcomeMessage(
      token: 1, epoch: 1, storedSequence: .max, windowBytes: 1 << 20, broker: BrokerDescription())
    unsafe core.receive(welcome.encode().span.bytes, at: 0)
    #expect(core.phase == .ended)
    let failure = core.takeActions().compactMap { action in
      if case .failed(let error) = action { error.description } else { nil as String? }
    }
    #expect(failure.first?.contains("publish under another identity") ?? false)
  }
}
