import BusBroker
import BusClient
import BusProtocol
import Primitives
import TestSupport
import Testing

/// What a subscriber gives back, and when it lets go, against the real broker.
@Suite(.timeLimit(.minutes(5)))
struct CreditTests {
  /// Fifty subscribers share a budget, and none of them may wait for more before it gives credit back.
  @Test func `the least share of a broker with many subscribers does not stop one`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder) { $0.outstandingBytes = 1 }
    let address = broker.addresses.bus
    let subscriber = try Subscriber(.init(address: address, client: "test"))
    #expect(try subscriber.waitUntilOpened(deadline: .seconds(20)))
    let producer = try Producer(.init(address: address, client: "test"))
    // Far more than the share, and less than the credit.
    let count = 30_000
    for number in 0..<count { try producer.publish("A", number) }
    #expect(producer.closeBlocking(deadline: .seconds(20)).isComplete)
    #expect(try subscriber.take(count).count == count)
    broker.stop()
    broker.join()
  }

  @Test func `a name is free once its subscriber has closed`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder)
    let address = broker.addresses.bus
    var administration = try BusAdministration(address: address)
    administration.deadline = .seconds(20)
    for _ in 0..<20 {
      let subscriber = try Subscriber(.init(address: address, client: "test", name: "reader"))
      #expect(try subscriber.waitUntilOpened(deadline: .seconds(20)))
      #expect(subscriber.closeBlocking(deadline: .seconds(20)))
      // Refused while it is in use.
      try administration.delete("reader")
    }
    broker.stop()
    broker.join()
  }
}
