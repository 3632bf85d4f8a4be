import BusBroker
import BusClient
import BusProtocol
import Primitives
import TestSupport

/// A broker on ports that the system chooses, or on given ones, over a folder.
func startBroker(
  _ folder: TemporaryFolder, bus: String = "tcp://127.0.0.1:*",
  _ change: (inout BrokerConfiguration) -> Void = { _ in }
) throws -> Broker {
  var configuration = BrokerConfiguration(directory: folder.file("journal"))
  configuration.busAddress = bus
  configuration.liveAddress = "tcp://127.0.0.1:*"
  configuration.publishAddress = "tcp://127.0.0.1:*"
  configuration.pushAddress = "tcp://127.0.0.1:*"
  change(&configuration)
  return try Broker(configuration)
}

/// A minimal event: the map {type: "track", event: NAME, n: NUMBER}.
func payload(_ name: String, _ number: Int) -> [UInt8] {
  var writer = MessagePackWriter()
  writer.writeMapHeader(3)
  writer.write("type")
  writer.write("track")
  writer.write("event")
  writer.write(name)
  writer.write("messageId")
  writer.write("id-\(number)")
  return writer.bytes
}

extension Producer {
  func publish(_ name: String, _ number: Int, sequence: UInt64? = nil) throws(BusClientError) {
    try publish(payload: payload(name, number), name: Array(name.utf8), sequence: sequence)
  }
}

extension Subscriber {
  /// The next `count` events, or fewer when none came for ten seconds.
  func take(_ count: Int) throws(BusClientError) -> [ReceivedEvent] {
    var events: [ReceivedEvent] = []
    while events.count < count, let batch = try nextBatch(deadline: .seconds(10)) {
      events += batch.events
    }
    return events
  }
}
