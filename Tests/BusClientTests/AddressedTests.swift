import BusBroker
import BusClient
import BusProtocol
import Primitives
import TestSupport
import Testing

/// Batches for named subscribers only, against the real broker.
@Suite(.timeLimit(.minutes(5)))
struct AddressedTests {
  private func named(
    _ name: String, _ address: String, filters: [NameFilter] = []
  ) throws -> Subscriber {
    var configuration = SubscriberConfiguration(address: address, client: "test", name: name)
    configuration.filters = filters
    return try Subscriber(configuration)
  }

  private func addressed(_ address: String, to names: [String]) -> ProducerConfiguration {
    var configuration = ProducerConfiguration(address: address, client: "test")
    configuration.addressees = names
    return configuration
  }

  @Test func `only the addressees get them, and can tell`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let address = broker.addresses.bus
    let replay = try Producer(addressed(address, to: ["first", "second"]))
    for number in 0..<10 { try replay.publish("A", number) }
    #expect(replay.closeBlocking().isComplete)
    let plain = try Producer(.init(address: address, client: "test"))
    try plain.publish("A", 10)
    #expect(plain.closeBlocking().isComplete)

    for name in ["first", "second"] {
      let events = try named(name, address).take(11)
      #expect(events.map(\.payload) == (0...10).map { payload("A", $0) })
      #expect(events.map(\.isAddressed) == (0...10).map { $0 < 10 })
    }
    for name in ["third", ""] {
      let events = try named(name, address).take(1)
      #expect(events.map(\.offset) == [10])
      #expect(events.map(\.isAddressed) == [false])
    }
    broker.stop()
    broker.join()
  }

  @Test func `a filter leaves them addressed`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let address = broker.addresses.bus
    var configuration = addressed(address, to: ["reader"])
    configuration.batchEvents = 20
    configuration.linger = .seconds(5)
    let producer = try Producer(configuration)
    for number in 0..<20 { try producer.publish(number % 2 == 0 ? "A" : "B", number) }
    #expect(producer.closeBlocking().isComplete)
    let events = try named("reader", address, filters: [NameFilter(.exact, "B")]).take(10)
    #expect(events.map(\.payload) == (0..<10).map { payload("B", 2 * $0 + 1) })
    #expect(events.allSatisfy { $0.isAddressed })
    broker.stop()
    broker.join()
  }

  @Test func `they stay addressed when a refused event is taken out`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let address = broker.addresses.bus
    let producer = try Producer(addressed(address, to: ["reader"]))
    for number in 0..<10 {
      try producer.publish(
        payload: payload(number == 5 ? "Other" : "A", number), name: Array("A".utf8))
    }
    let result = producer.closeBlocking()
    #expect((result.acknowledged, result.refused) == (9, 1))
    let events = try named("reader", address).take(9)
    #expect(events.count == 9)
    #expect(events.allSatisfy { $0.isAddressed })
    broker.stop()
    broker.join()
  }

  @Test func `they stay addressed when a batch is cut to the broker's limits`() throws {
    let folder = try TemporaryFolder()
    let path = "ipc://" + folder.file("bus")
    var configuration = addressed(path, to: ["reader"])
    configuration.batchEvents = 5000
    configuration.batchBytes = 16 << 20
    let producer = try Producer(configuration)
    for number in 0..<5000 { try producer.publish("A", number) }
    let broker = try startBroker(folder, bus: path)
    let result = producer.closeBlocking()
    #expect(result.acknowledged == 5000)
    let events = try named("reader", path).take(5000)
    #expect(events.map(\.payload) == (0..<5000).map { payload("A", $0) })
    #expect(events.allSatisfy { $0.isAddressed })
    broker.stop()
    broker.join()
  }

  @Test func `the spool keeps the addressees that they were published to`() throws {
    let folder = try TemporaryFolder()
    let path = "ipc://" + folder.file("bus")
    var configuration = addressed(path, to: ["reader"])
    configuration.overflow = .spill(path: folder.file("spool.sqlite"))
    configuration.maximumBytes = 4000
    let first = try Producer(configuration)
    for number in 0..<100 { try first.publish("A", number) }
    #expect(first.closeBlocking(deadline: .milliseconds(50)).spooled == 100)
    let broker = try startBroker(folder, bus: path)
    configuration.addressees = []
    let second = try Producer(configuration)
    try second.publish("A", 100)
    #expect(second.closeBlocking().isComplete)
    let events = try named("reader", path).take(101)
    #expect(events.map(\.isAddressed) == (0...100).map { $0 < 100 })
    #expect(try named("other", path).take(1).map(\.payload) == [payload("A", 100)])
    broker.stop()
    broker.join()
  }

  @Test(arguments: [
    [""], [String(repeating: "x", count: 201)], (0..<256).map { "name \($0)" },
  ])
  func `addressees that cannot travel are refused at once`(_ names: [String]) {
    #expect(throws: BusClientError.self) {
      try Producer(addressed("tcp://127.0.0.1:1", to: names))
    }
  }
}
