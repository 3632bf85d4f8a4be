import BusBroker
import BusClient
import BusProtocol
import BusTransport
import Primitives
import TestSupport

/// A broker that asks for keys, and the keys of its clients.
final class KeyedBroker {
  let folder: TemporaryFolder
  let directory: String
  private(set) var broker: Broker
  let reports = Collector<OperatorReport>()

  init() throws {
    folder = try TemporaryFolder()
    directory = folder.file("journal")
    broker = try Self.start(folder, reports, bus: "tcp://127.0.0.1:*")
  }

  private static func start(
    _ folder: TemporaryFolder, _ reports: Collector<OperatorReport>, bus: String
  ) throws -> Broker {
    var configuration = BrokerConfiguration(directory: folder.file("journal"))
    configuration.busAddress = bus
    configuration.liveAddress = "tcp://127.0.0.1:*"
    configuration.publishAddress = "tcp://127.0.0.1:*"
    configuration.pushAddress = "tcp://127.0.0.1:*"
    configuration.asksForKeys = true
    return try Broker(configuration) { reports.add($0) }
  }

  var bus: String { broker.addresses.bus }

  func restart() throws {
    let address = bus
    stop()
    broker = try Self.start(folder, reports, bus: address)
  }

  func stop() {
    broker.stop()
    broker.join()
  }

  /// A client's key pair, not authorised yet.
  func generate(_ name: String) throws -> BusSecurity {
    let path = folder.file(name + ".key")
    try CurveKeyFile.write(try .generate(), to: path, name: name, replacing: true)
    return try BusSecurity(keyFile: path, serverKey: broker.serverKey)
  }

  func authorize(_ name: String, _ security: BusSecurity, _ rights: AccessRights) throws {
    let key = try CurveKeyFile.publicKey(folder.file(name + ".key.pub"))
    try AccessFile(directory: directory).change { keys in
      keys.removeAll { $0.name == name }
      keys.append(AccessKey(name: name, key: key, since: "", rights: rights))
    }
  }

  /// A client that is let in; returns when the broker knows of it.
  func client(
    _ name: String, publish: [String] = [], subscribe: [String] = [], administer: [String] = []
  ) throws -> BusSecurity {
    let security = try generate(name)
    var rights = AccessRights()
    rights.publish = publish
    rights.subscribe = subscribe
    rights.administer = administer
    try change { try authorize(name, security, rights) }
    return security
  }

  func revoke(_ name: String) throws {
    try change {
      try AccessFile(directory: directory).change { keys in keys.removeAll { $0.name == name } }
    }
  }

  /// Changes the keys, and waits until the broker has taken them.
  func change(_ body: () throws -> Void) throws {
    let before = changes
    try body()
    _ = waitUntil { changes > before }
  }

  private var changes: Int { reports.all.count { $0.key == "keys_changed" } }

  /// How often the broker refused so, on one of its ports.
  func refusals(_ port: String, _ reason: String) -> UInt64 {
    broker.status.refusals.first { $0.port == port && $0.reason == reason }?.count ?? 0
  }
}

extension BusSecurity {
  func producer(_ bus: String, _ change: (inout ProducerConfiguration) -> Void = { _ in }) throws
    -> Producer
  {
    var configuration = ProducerConfiguration(address: bus, client: "test")
    configuration.security = self
    change(&configuration)
    return try Producer(configuration)
  }

  func subscriber(
    _ bus: String, _ filters: [NameFilter] = [],
    _ change: (inout SubscriberConfiguration) -> Void = { _ in }
  ) throws -> Subscriber {
    var configuration = SubscriberConfiguration(address: bus, client: "test")
    configuration.security = self
    configuration.filters = filters
    change(&configuration)
    return try Subscriber(configuration)
  }
}
