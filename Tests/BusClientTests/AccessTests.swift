import BusBroker
import BusClient
import BusProtocol
import BusTransport
import Primitives
import TestSupport
import Testing

/// Who gets in, and who may do what, with real sockets.
@Suite(.timeLimit(.minutes(2)))
struct AccessTests {
  let keyed: KeyedBroker

  init() throws { keyed = try KeyedBroker() }

  @Test func `a key with rights publishes, subscribes and administers`() throws {
    defer { keyed.stop() }
    let ann = try keyed.client("ann", publish: ["*"], subscribe: ["*"], administer: ["*"])
    let producer = try ann.producer(keyed.bus)
    try producer.publish("Game Ended", 1)
    #expect(producer.flushBlocking(deadline: .seconds(10)).acknowledged == 1)
    #expect(try ann.subscriber(keyed.bus).take(1).map(\.name) == ["Game Ended"])
    var tool = try BusAdministration(address: keyed.bus, security: ann)
    #expect(try tool.status().number("head") > 0)
  }

  @Test func `an unknown key is told what to do, and gets in once it is authorised`() throws {
    defer { keyed.stop() }
    let ann = try keyed.generate("ann")
    let producer = try ann.producer(keyed.bus)
    try producer.publish("A", 1)
    #expect(waitUntil { producer.denial != nil })
    let text = try #require(producer.denial)
    #expect(text.contains(ann.publicKey))
    #expect(text.contains("eventbus keys authorize"))
    #expect(waitUntil { keyed.refusals("bus", "DENIED") > 0 })
    var rights = AccessRights()
    rights.publish = ["A"]
    try keyed.authorize("ann", ann, rights)
    let result = producer.flushBlocking(deadline: .seconds(20))
    #expect(result.acknowledged == 1)
    #expect(producer.denial == nil)
  }

  @Test func `who is denied asks a few times a second, not without end`() throws {
    defer { keyed.stop() }
    let notices = Collector<ConnectionNotice>()
    let began = SystemClock.monotonic()
    let producer = try keyed.generate("ann").producer(keyed.bus) { configuration in
      configuration.onNotice = { notices.add($0) }
    }
    #expect(waitUntil { notices.all.count >= 3 })
    let seconds = Double(SystemClock.monotonic() - began) / 1e9
    #expect(Double(notices.all.count) <= 2 + seconds * 2)
    _ = producer.closeBlocking(deadline: .zero)
  }

  @Test func `without a key, or with another broker's, one hears why`() throws {
    defer { keyed.stop() }
    var plain = ProducerConfiguration(address: keyed.bus, client: "test")
    plain.security = nil
    let nobody = try Producer(plain)
    #expect(waitUntil { nobody.denial?.contains("--curve-key") ?? false })
    // Its own public key instead of the broker's.
    let path = keyed.folder.file("ann.key")
    let ann = try keyed.client("ann", publish: ["*"])
    let misled = try BusSecurity(keyFile: path, serverKey: path + ".pub").producer(keyed.bus)
    #expect(waitUntil { misled.denial?.contains("--server-key") ?? false })
    let producer = try ann.producer(keyed.bus)
    try producer.publish("A", 1)
    #expect(producer.flushBlocking(deadline: .seconds(10)).acknowledged == 1)
  }

  @Test func `handshakes that fail are counted by port and reason, and reported`() throws {
    defer { keyed.stop() }
    func count(_ port: String, _ reason: String) -> UInt64 {
      keyed.broker.status.handshakes.first { $0.port == port && $0.reason == reason }?.count ?? 0
    }
    // All sixteen are there from the start.
    #expect(waitUntil { keyed.broker.status.handshakes.count == 16 })
    #expect(count("bus", "keys") == 0)
    let context = try ZeroMQContext()
    let addresses = keyed.broker.addresses
    let plain: [(String, Socket.Kind, String)] = [
      ("bus", .dealer, addresses.bus), ("live", .sub, addresses.live),
      ("publish", .pub, addresses.publish), ("push", .push, addresses.push),
    ]
    for (port, kind, address) in plain {
      let socket = try Socket(context, kind)
      try socket.connect(address)
      // Which side sees it first, and goes, is for them to settle.
      #expect(waitUntil { count(port, "keys") + count(port, "ended") > 0 }, "\(port)")
    }
    let path = keyed.folder.file("ann.key")
    _ = try keyed.client("ann", publish: ["*"])
    let misled = try BusSecurity(keyFile: path, serverKey: path + ".pub").producer(keyed.bus)
    #expect(waitUntil { count("bus", "server_key") > 0 })
    _ = misled.closeBlocking(deadline: .zero)
  }

  @Test func `a broker without keys is named as a cause`() throws {
    keyed.stop()
    let folder = try TemporaryFolder()
    let open = try startBroker(folder)
    defer {
      open.stop()
      open.join()
    }
    let producer = try keyed.generate("ann").producer(open.addresses.bus)
    #expect(waitUntil { producer.denial?.contains("--curve") ?? false })
  }

  @Test func `only names that the key may publish are stored`() throws {
    defer { keyed.stop() }
    let refused = Collector<RefusedEvent>()
    let producer = try keyed.client("shop", publish: ["Order *"]).producer(keyed.bus) {
      $0.onRefused = { refused.add($0) }
    }
    try producer.publish("Order Placed", 1)
    try producer.publish("Game Ended", 2)
    try producer.publish("Order Sent", 3)
    let result = producer.flushBlocking(deadline: .seconds(10))
    #expect(result.acknowledged == 2)
    #expect(refused.all.map(\.code) == ["FORBIDDEN"])
    #expect(refused.all.first?.text.contains("'shop'") ?? false)
  }

  @Test func `a subscriber gets what its key covers, and is refused everything else`() throws {
    defer { keyed.stop() }
    let ann = try keyed.client("ann", publish: ["*"])
    let producer = try ann.producer(keyed.bus)
    for (number, name) in ["Game Ended", "Order Placed"].enumerated() {
      try producer.publish(name, number)
    }
    #expect(producer.flushBlocking(deadline: .seconds(10)).acknowledged == 2)
    let bob = try keyed.client("bob", subscribe: ["Game *"])
    for allowed in [
      NameFilter(.exact, "Game Ended"), .init(.glob, "Game *"), .init(.prefix, "Game E"),
    ] {
      #expect(try bob.subscriber(keyed.bus, [allowed]).take(1).map(\.name) == ["Game Ended"])
    }
    let forbidden: [[NameFilter]] = [
      [], [NameFilter(.glob, "*")], [NameFilter(.exact, "Order Placed")],
      [NameFilter(.prefix, "Game")], [NameFilter(.exact, "Game Ended"), NameFilter(.glob, "G*")],
    ]
    for filters in forbidden {
      let subscriber = try bob.subscriber(keyed.bus, filters)
      do throws(BusClientError) {
        _ = try subscriber.waitUntilLetIn(deadline: .seconds(10))
        Issue.record("\(filters) were let through")
      } catch {
        #expect("\(error)".contains("'bob' may not subscribe"))
        #expect("\(error)".contains("Game *"))
      }
    }
    var tool = try BusAdministration(address: keyed.bus, security: bob)
    #expect(throws: BusClientError.self) { try tool.status() }
    #expect(throws: BusClientError.self) { try tool.fetch(from: .earliest) { _ in true } }
    var seen: [String] = []
    try tool.fetch(from: .earliest, filters: [NameFilter(.glob, "Game *")]) { batch in
      seen += batch.events.map(\.name)
      return true
    }
    #expect(seen == ["Game Ended"])
    #expect(throws: BusClientError.self) { try bob.producer(keyed.bus).waitAndThrow() }
  }

  @Test func `a cursor is not taken over by a key that may not read what it reads`() throws {
    defer { keyed.stop() }
    let ann = try keyed.client("ann", subscribe: ["*"], administer: ["archiver"])
    let archiver = try ann.subscriber(keyed.bus) { $0.name = "archiver" }
    #expect(try archiver.waitUntilLetIn(deadline: .seconds(10)))
    let bob = try keyed.client("bob", subscribe: ["Game *"], administer: ["bob-*"])
    let thief = try bob.subscriber(keyed.bus, [NameFilter(.glob, "Game *")]) { configuration in
      configuration.name = "archiver"
      configuration.reset = true
    }
    #expect(throws: BusClientError.self) { try thief.waitUntilLetIn(deadline: .seconds(10)) }
    var tool = try BusAdministration(address: keyed.bus, security: bob)
    #expect(throws: BusClientError.self) { try tool.pause("archiver") }
    var own = try BusAdministration(address: keyed.bus, security: ann)
    #expect(try own.pause("archiver").flag("paused"))
  }

  @Test func `forgetting needs the right to administer`() throws {
    defer { keyed.stop() }
    let bob = try keyed.client("bob", publish: ["*"])
    let producer = try bob.producer(keyed.bus) { $0.mayForget = true }
    #expect(waitUntil { producer.denial?.contains("--administer") ?? false })
  }

  @Test func `a revoked key is cut off at once, and comes back when it is authorised again`() throws
  {
    defer { keyed.stop() }
    let ann = try keyed.client("ann", publish: ["*"], subscribe: ["*"])
    let producer = try ann.producer(keyed.bus)
    let subscriber = try ann.subscriber(keyed.bus)
    try producer.publish("A", 1)
    #expect(try subscriber.take(1).count == 1)
    try keyed.revoke("ann")
    try producer.publish("A", 2)
    #expect(waitUntil { producer.denial != nil && subscriber.status.denial != nil })
    #expect(producer.flushBlocking(deadline: .milliseconds(100)).acknowledged == 1)
    var rights = AccessRights()
    rights.publish = ["*"]
    rights.subscribe = ["*"]
    try keyed.authorize("ann", ann, rights)
    #expect(producer.flushBlocking(deadline: .seconds(20)).acknowledged == 2)
    #expect(try subscriber.take(1).count == 1)
  }

  @Test func `two keys work beside each other while one takes the other's place`() throws {
    defer { keyed.stop() }
    let old = try keyed.client("shop", publish: ["*"])
    let new = try keyed.client("shop-2", publish: ["*"])
    let producers = [try old.producer(keyed.bus), try new.producer(keyed.bus)]
    for producer in producers {
      try producer.publish("A", 1)
      #expect(producer.flushBlocking(deadline: .seconds(10)).acknowledged == 1)
    }
    try keyed.revoke("shop")
    try producers[1].publish("A", 2)
    #expect(producers[1].flushBlocking(deadline: .seconds(10)).acknowledged == 2)
    #expect(waitUntil { producers[0].denial != nil })
  }

  @Test func `a broker that starts again knows its keys, and clients find it`() throws {
    defer { keyed.stop() }
    let ann = try keyed.client("ann", publish: ["*"])
    let producer = try ann.producer(keyed.bus)
    try producer.publish("A", 1)
    #expect(producer.flushBlocking(deadline: .seconds(10)).acknowledged == 1)
    let key = keyed.broker.serverKey
    try keyed.restart()
    #expect(keyed.broker.serverKey == key)
    try producer.publish("A", 2)
    #expect(producer.flushBlocking(deadline: .seconds(20)).acknowledged == 2)
  }

  @Test func `a file of keys that makes no sense changes nothing, and is reported`() throws {
    defer { keyed.stop() }
    let ann = try keyed.client("ann", publish: ["*"])
    try PrivateFile.write(Array("nonsense\n".utf8), to: keyed.directory + "/keys")
    #expect(waitUntil { keyed.reports.all.contains { $0.key == "keys_invalid" } })
    let producer = try ann.producer(keyed.bus)
    try producer.publish("A", 1)
    #expect(producer.flushBlocking(deadline: .seconds(10)).acknowledged == 1)
  }
}

extension Producer {
  fileprivate func waitAndThrow() throws(BusClientError) {
    _ = waitUntil { denial != nil }
    if let denial { throw .denied(text: denial) }
  }
}
