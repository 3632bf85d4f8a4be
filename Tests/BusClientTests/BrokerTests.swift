import BusBroker
import BusClient
import BusProtocol
import Primitives
import TestSupport
import Testing

/// Producer and subscriber against the real broker, over real sockets.
@Suite(.timeLimit(.minutes(5)))
struct ClientBrokerTests {
  @Test func `what is published is acknowledged and read in order`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let subscriber = try Subscriber(.init(address: broker.addresses.bus, client: "test"))
    #expect(try subscriber.waitUntilOpened(deadline: .seconds(10)))
    let producer = try Producer(.init(address: broker.addresses.bus, client: "test"))
    for number in 0..<5000 { try producer.publish(number % 3 == 0 ? "A" : "B", number) }
    let result = producer.flushBlocking(deadline: .seconds(10))
    #expect(result.isComplete)
    #expect(result.acknowledged == 5000)
    let events = try subscriber.take(5000)
    #expect(events.map(\.payload) == (0..<5000).map { payload($0 % 3 == 0 ? "A" : "B", $0) })
    #expect(events.map(\.offset) == (0..<5000).map { UInt64($0) })
    #expect(producer.closeBlocking().isComplete)
    broker.stop()
    broker.join()
  }

  @Test func `both go on by themselves when the broker starts again`() throws {
    let folder = try TemporaryFolder()
    var broker = try startBroker(folder)
    let address = broker.addresses.bus
    var configuration = SubscriberConfiguration(address: address, client: "test", name: "reader")
    configuration.filters = [NameFilter(.exact, "A")]
    let subscriber = try Subscriber(configuration)
    let producer = try Producer(.init(address: address, client: "test"))
    for round in 0..<3 {
      for number in 0..<100 { try producer.publish("A", round * 100 + number) }
      try producer.publish("AB", 0)
      #expect(producer.flushBlocking(deadline: .seconds(10)).isComplete)
      let events = try subscriber.take(100)
      #expect(events.map(\.payload) == (0..<100).map { payload("A", round * 100 + $0) })
      broker.stop()
      broker.join()
      broker = try startBroker(folder, bus: address)
    }
    broker.stop()
    broker.join()
  }

  @Test func `a named subscriber goes on behind its commit`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let address = broker.addresses.bus
    let producer = try Producer(.init(address: address, client: "test"))
    for number in 0..<10 { try producer.publish("A", number) }
    #expect(producer.flushBlocking(deadline: .seconds(10)).isComplete)
    let configuration = SubscriberConfiguration(address: address, client: "test", name: "reader")
    let first = try Subscriber(configuration)
    let all = try first.take(10)
    let cursor = Position(epoch: all[3].epoch, offset: all[3].offset + 1)
    first.commit(cursor)
    #expect(try first.waitForCommit(cursor, deadline: .seconds(10)))
    let second = try Subscriber(configuration)
    #expect(try second.take(6).map(\.offset) == [4, 5, 6, 7, 8, 9])
    #expect(throws: BusClientError.fenced) { try first.take(1) }
    broker.stop()
    broker.join()
  }

  @Test func `a refused event is taken out and the others are stored`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let refused = Collector<RefusedEvent>()
    var configuration = ProducerConfiguration(address: broker.addresses.bus, client: "test")
    configuration.onRefused = { refused.add($0) }
    let producer = try Producer(configuration)
    for number in 0..<100 {
      if number == 50 {
        try producer.publish(payload: payload("Other", 50), name: Array("A".utf8))
      } else {
        try producer.publish("A", number)
      }
    }
    let result = producer.flushBlocking(deadline: .seconds(10))
    #expect(result.isComplete)
    #expect((result.acknowledged, result.refused) == (99, 1))
    #expect(refused.all.map(\.payload) == [payload("Other", 50)])
    let subscriber = try Subscriber(.init(address: broker.addresses.bus, client: "test"))
    #expect(try subscriber.take(99).count == 99)
    broker.stop()
    broker.join()
  }

  @Test func `own numbers are stored once whatever the batches of the next run`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    var configuration = ProducerConfiguration(address: broker.addresses.bus, client: "test")
    configuration.identity = .named("file.ndjson")
    for (size, count) in [(7, 20), (11, 50)] {
      configuration.batchEvents = size
      let producer = try Producer(configuration)
      for line in 1...count { try producer.publish("A", line, sequence: UInt64(line)) }
      let result = producer.closeBlocking()
      #expect(result.isComplete)
      #expect(result.acknowledged == UInt64(count))
      #expect(producer.storedSequence == (size == 7 ? 0 : 20))
    }
    let subscriber = try Subscriber(.init(address: broker.addresses.bus, client: "test"))
    #expect(try subscriber.take(50).map(\.payload) == (1...50).map { payload("A", $0) })
    broker.stop()
    broker.join()
  }
}
