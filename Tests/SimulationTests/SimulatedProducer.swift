import BusProtocol
import EventJournal
import Primitives

@testable import BusBroker
@testable import BusClient

/// A producer's core, and what its program knows: what it published and what it was told is on disk.
struct SimulatedProducer {
  let number: Int
  let id: JournalProducer
  var core: ProducerCore
  private(set) var published: [[UInt8]] = []
  private(set) var acknowledged = 0
  private let bug: PlantedBug?

  init(number: Int, seed: UInt64, bug: PlantedBug? = nil) {
    self.bug = bug
    self.number = number
    id = JournalProducer(high: 7, low: UInt64(number))
    var bytes: [UInt8] = []
    bytes.appendBigEndian(id.high)
    bytes.appendBigEndian(id.low)
    core = ProducerCore(
      .init(
        client: "simulation", producer: bytes, instance: [UInt8(number)],
        maximumInFlight: 4), seed: seed)
  }

  mutating func publish(using random: inout SeededRandom) {
    var builder = BatchBuilder()
    var cost = 0
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let name = ["A", "B", "C"].randomElement(using: &random) ?? "A"
      let payload = payload(name, published.count)
      builder.payloads.append(contentsOf: payload)
      builder.append(name: Array(name.utf8))
      published.append(payload)
      cost += payload.count + 1
    }
    core.enqueue(OutgoingBatch(taking: &builder, cost: cost, largestEvent: 100))
  }

  private func payload(_ name: String, _ index: Int) -> [UInt8] {
    var writer = MessagePackWriter()
    writer.writeMapHeader(3)
    writer.write("type")
    writer.write("track")
    writer.write("event")
    writer.write(name)
    writer.write("messageId")
    writer.write("\(number)-\(index)")
    return writer.bytes
  }

  mutating func receive(_ message: [UInt8], at now: Int64) {
    unsafe core.receive(message.span.bytes, at: now)
  }

  /// Lets the core act, and moves what it sends to the connection.
  mutating func step(_ link: inout Link, at now: Int64, newPeer: () -> Peer) throws {
    _ = core.tick(at: now)
    try perform(&link, newPeer)
    if bug == .renumbersWhatItRepeats, core.sent < core.queue.count, core.queue[core.sent].wasSent {
      core.queue[core.sent].sequence = 0
    }
    while core.sendNext(
      at: now,
      { span in
        link.sendUp(span.copied())
        return true
      })
    {}
    try perform(&link, newPeer)
  }

  private mutating func perform(_ link: inout Link, _ newPeer: () -> Peer) throws {
    for action in core.takeActions() {
      switch action {
      case .send(let bytes): link.sendUp(bytes)
      case .reconnect: link.replace(newPeer())
      case .acknowledged(let events, _, _): acknowledged += events
      case .refused(let events, _, _):
        throw SimulationFailure(description: "refused: \(events.map(\.text))")
      case .failed(let error): throw SimulationFailure(description: "producer: \(error)")
      case .welcomed, .notice, .stored, .refusedTickets: break
      }
    }
  }

  var isDone: Bool { core.queue.isEmpty }
}
