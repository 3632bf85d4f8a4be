import BusProtocol
import BusTransport
import Primitives
import TestSupport
import Testing

@testable import BusBroker

/// A broker on ports that the system chooses, over a folder that goes with the test.
func startBroker(
  _ folder: TemporaryFolder, _ change: (inout BrokerConfiguration) -> Void = { _ in }
) throws -> Broker {
  var configuration = BrokerConfiguration(directory: folder.path)
  configuration.busAddress = "tcp://127.0.0.1:*"
  configuration.liveAddress = "tcp://127.0.0.1:*"
  configuration.publishAddress = "tcp://127.0.0.1:*"
  configuration.pushAddress = "tcp://127.0.0.1:*"
  change(&configuration)
  return try Broker(configuration)
}

@Suite(.timeLimit(.minutes(5)))
struct BrokerTests {
  @Test func `an acknowledged batch is delivered with dense offsets`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let context = try ZeroMQContext()
    var client = try RawClient(context, broker.addresses.bus)
    let welcome = try client.hello()
    try client.publish(["A", "B", "A"], token: welcome.token)
    #expect(try client.acknowledged().nextOffset == 3)

    var reader = try RawClient(context, broker.addresses.bus)
    let opened = try reader.open()
    try reader.send(CreditMessage(events: 100, bytes: 1 << 20).encode(token: opened.token))
    let (events, scannedTo) = try reader.events()
    #expect(
      events == [
        Delivered(name: "A", offset: 0), Delivered(name: "B", offset: 1),
        Delivered(name: "A", offset: 2),
      ])
    #expect(scannedTo.offset == 3)
    broker.stop()
    broker.join()
    #expect(broker.failure == nil)
  }

  @Test func `a start that failed holds neither the directory nor a port`() throws {
    let folders = [try TemporaryFolder(), try TemporaryFolder()]
    let other = try startBroker(folders[0])
    // A port that is free.
    let gone = try startBroker(folders[1])
    gone.stop()
    gone.join()
    #expect(throws: BrokerError.self) {
      try startBroker(folders[1]) {
        $0.busAddress = other.addresses.bus
        $0.liveAddress = gone.addresses.live
      }
    }
    let broker = try startBroker(folders[1]) { $0.liveAddress = gone.addresses.live }
    for broker in [other, broker] {
      broker.stop()
      broker.join()
    }
  }

  @Test func `a batch sent again after a restart is stored once`() throws {
    let folder = try TemporaryFolder()
    let context = try ZeroMQContext()
    for round in 0..<3 {
      let broker = try startBroker(folder)
      var client = try RawClient(context, broker.addresses.bus)
      let welcome = try client.hello()
      #expect(welcome.storedSequence == (round == 0 ? 0 : 1))
      client.sequence = 0
      try client.publish(["A"], token: welcome.token)
      #expect(try client.acknowledged().sequence == 1)
      broker.stop()
      broker.join()
    }
    let broker = try startBroker(folder)
    var reader = try RawClient(context, broker.addresses.bus)
    #expect(try reader.open().head == 1)
    broker.stop()
    broker.join()
  }

  @Test func `an exact filter gets its name and nothing that begins like it`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let context = try ZeroMQContext()
    var client = try RawClient(context, broker.addresses.bus)
    let welcome = try client.hello()
    try client.publish(
      ["Game", "Game Started", "Game Started ", "game started"], token: welcome.token)
    _ = try client.acknowledged()
    var reader = try RawClient(context, broker.addresses.bus)
    let opened = try reader.open(filters: [NameFilter(.exact, "Game Started")])
    try reader.send(CreditMessage(events: 100, bytes: 1 << 20).encode(token: opened.token))
    let (events, scannedTo) = try reader.events()
    #expect(events == [Delivered(name: "Game Started", offset: 1)])
    #expect(scannedTo.offset == 4)
    broker.stop()
    broker.join()
  }

  @Test func `a lost batch shows as a sequence gap that names the last one`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let context = try ZeroMQContext()
    var client = try RawClient(context, broker.addresses.bus)
    let welcome = try client.hello()
    try client.publish(["A"], token: welcome.token, previous: 7)
    let refusal = try client.refused()
    #expect(refusal.knownCode == .sequenceGap)
    #expect(refusal.lastSequence == 0)
    // The ledger and the rows by reason count the same events.
    #expect(waitUntil { broker.status.metrics.eventsRefused == 1 })
    #expect(broker.status.refusals.map(\.reason) == ["SEQUENCE_GAP"])
    #expect(broker.status.refusals.map(\.count) == [1])
    broker.stop()
    broker.join()
  }

  @Test func `a bad event is refused by its index and nothing of its batch is stored`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let context = try ZeroMQContext()
    var client = try RawClient(context, broker.addresses.bus)
    let welcome = try client.hello()
    var message: [UInt8] = []
    PublishMessage(sequence: 1, previous: 0, round: 9).encode(token: welcome.token, into: &message)
    var builder = BatchBuilder()
    builder.payloads.append(contentsOf: payload("A", 1))
    builder.append(name: Array("A".utf8))
    builder.payloads.append(contentsOf: payload("B", 1))
    builder.append(name: Array("Other".utf8))
    builder.build(into: &message)
    try client.send(message)
    let refusal = try client.refused()
    #expect(refusal.events.map(\.index) == [1])
    #expect(refusal.events.first?.code == "BAD_PAYLOAD")
    #expect(refusal.round == 9)
    var reader = try RawClient(context, broker.addresses.bus)
    #expect(try reader.open().head == 0)
    broker.stop()
    broker.join()
  }

  @Test func `a commit is where the next instance begins, and fences the one before`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let context = try ZeroMQContext()
    var client = try RawClient(context, broker.addresses.bus)
    let welcome = try client.hello()
    try client.publish(["A", "A", "A"], token: welcome.token)
    _ = try client.acknowledged()
    var first = try RawClient(context, broker.addresses.bus)
    let start = StartPosition.cursor(otherwise: .earliest)
    let opened = try first.open("sink", start: start)
    try first.send(CreditMessage(events: 100, bytes: 1 << 20).encode(token: opened.token))
    _ = try first.events()
    let cursor = Position(epoch: opened.cursor.epoch, offset: 2)
    try first.send(CommitMessage(cursor: cursor).encode(.commit, token: opened.token))
    _ = try first.receive(.committed)
    var second = try RawClient(context, broker.addresses.bus)
    #expect(try second.open("sink", start: start, instance: [2]).cursor == cursor)
    _ = try first.receive(.fenced)
    broker.stop()
    broker.join()
  }

  @Test func `new names of one batch share the room that is left for names`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder) { $0.maximumNames = 3 }
    let context = try ZeroMQContext()
    var client = try RawClient(context, broker.addresses.bus)
    let welcome = try client.hello()
    try client.publish(["A", "B", "C", "D", "E", "A"], token: welcome.token)
    let refusal = try client.refused()
    #expect(refusal.events.map(\.index) == [3, 4])
    #expect(Set(refusal.events.map(\.code)) == ["TOO_MANY_NAMES"])
    client.sequence = 0
    try client.publish(["A", "B", "C", "A"], token: welcome.token)
    #expect(try client.acknowledged().nextOffset == 4)
    broker.stop()
    broker.join()
    #expect(broker.failure == nil)
  }

  @Test func `whoever asks without a session is told to begin again`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let context = try ZeroMQContext()
    var client = try RawClient(context, broker.addresses.bus)
    try client.send(MessageHeader(.ping, token: 99).message)
    let message = try client.receive(.reset)
    #expect(try client.header(message).token == 99)
    broker.stop()
    broker.join()
  }
}
