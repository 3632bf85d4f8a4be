import BusProtocol
import BusTransport
import TestSupport
import Testing

@testable import BusBroker

@Suite(.timeLimit(.minutes(5)))
struct SessionLimitTests {
  @Test func `sessions without a name are bounded and a closed one makes room`() throws {
    let folder = try TemporaryFolder()
    let broker = try startBroker(folder) { $0.maximumSubscribers = 2 }
    let context = try ZeroMQContext()
    var client = try RawClient(context, broker.addresses.bus)
    let first = try client.open()
    _ = try client.open()
    let open = OpenMessage(client: "test", name: [], filters: [], start: .latest, instance: [])
    try client.send(open.encode())
    #expect(try client.refused().knownCode == .overload)
    // Named ones have a limit of their own.
    _ = try client.open("named")
    try client.send(MessageHeader(.close, token: first.token).message)
    _ = try client.open()
    broker.stop()
    broker.join()
    #expect(broker.failure == nil)
  }
}
