import BusProtocol
import Primitives
import Testing

@testable import BusClient

/// A broker that asks to wait is asked again later, with the same batch, and ever more seldom.
struct ProducerBackOffTests {
  private static func liveCore() -> ProducerCore {
    var core = ProducerCore(.init(client: "t", producer: [1], instance: [2]), seed: 5)
    _ = core.tick(at: 0)
    let welcome = WelcomeMessage(
      token: 7, epoch: 1, storedSequence: 0, windowBytes: 1 << 20, broker: BrokerDescription())
    unsafe core.receive(welcome.encode().span.bytes, at: 0)
    for number in 0..<3 {
      var builder = BatchBuilder()
      builder.payloads.append(contentsOf: "\(number)".utf8)
      builder.append(name: Array("A".utf8))
      core.enqueue(OutgoingBatch(taking: &builder, cost: 2, largestEvent: 8))
    }
    return core
  }

  /// The batches that go out now.
  private func sent(_ core: inout ProducerCore, at now: Int64) throws -> [PublishMessage] {
    var messages: [PublishMessage] = []
    while try core.sendNext(
      at: now,
      { span in
        messages.append(try PublishMessage(decoding: span))
        return true
      })
    {}
    return messages
  }

  private func refuse(
    _ core: inout ProducerCore, _ code: RefusalCode, _ message: PublishMessage, at now: Int64,
    after wait: Duration
  ) {
    var refusal = RefuseMessage(token: 7, code: code, text: "later")
    refusal.sequence = message.sequence
    refusal.round = message.round
    refusal.retryAfter = wait
    unsafe core.receive(refusal.encode().span.bytes, at: now)
  }

  @Test(arguments: [RefusalCode.diskFull, .overload])
  func `what is refused for now waits as long as the broker asks, and goes out again`(
    _ code: RefusalCode
  ) throws {
    var core = Self.liveCore()
    let first = try sent(&core, at: 0)
    #expect(first.map(\.sequence) == [1, 2, 3])
    refuse(&core, code, first[0], at: 0, after: .milliseconds(300))
    // Refusals of the same round come for those behind it too, and change nothing.
    refuse(&core, code, first[1], at: 0, after: .seconds(9))
    #expect(core.resumeAt >= 300_000_000 && core.resumeAt < 1_000_000_000)
    #expect(try sent(&core, at: core.resumeAt - 1).isEmpty)
    #expect(core.tick(at: 0) == core.resumeAt)
    let again = try sent(&core, at: core.resumeAt)
    #expect(again.map(\.sequence) == [1, 2, 3])
    #expect(again.map(\.previous) == [0, 1, 2])
    #expect(core.resentEvents == 3)
  }

  @Test(arguments: [RefusalCode.diskFull, .overload])
  func `the waits grow while it is refused, up to five seconds, and end with an acknowledgement`(
    _ code: RefusalCode
  ) throws {
    var core = Self.liveCore()
    var now: Int64 = 0
    var waits: [Int64] = []
    for _ in 0..<40 {
      let batches = try sent(&core, at: now)
      refuse(&core, code, try #require(batches.first), at: now, after: .milliseconds(50))
      waits.append(core.resumeAt - now)
      now = core.resumeAt
    }
    #expect(waits.allSatisfy { $0 >= 50_000_000 && $0 <= 5_000_000_000 })
    #expect(waits.prefix(3).max() ?? 0 <= 400_000_000)
    #expect(waits.suffix(20).max() ?? 0 > 2_000_000_000)
    let batches = try sent(&core, at: now)
    let acknowledgement = AcknowledgeMessage(sequence: 1, nextOffset: 1, windowBytes: 1 << 20)
    unsafe core.receive(acknowledgement.encode(token: 7).span.bytes, at: now)
    refuse(&core, code, batches[1], at: now, after: .zero)
    #expect(core.resumeAt - now <= 100_000_000)
  }
}
