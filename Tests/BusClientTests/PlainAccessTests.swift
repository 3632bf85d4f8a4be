import BusBroker
import BusClient
import BusProtocol
import BusTransport
import Primitives
import TestSupport
import Testing

/// Keys on the ports for plain sockets, which no client of ours stands behind.
@Suite(.timeLimit(.minutes(2)))
struct PlainAccessTests {
  let keyed: KeyedBroker
  let context: ZeroMQContext

  init() throws {
    keyed = try KeyedBroker()
    context = try ZeroMQContext()
  }

  private func socket(_ kind: Socket.Kind, _ name: String, _ address: String) throws -> Socket {
    var options = SocketOptions()
    options.reconnectMilliseconds = 20
    options.maximumReconnectMilliseconds = 100
    options.curve = .client(
      try CurveKeyFile.pair(keyed.folder.file(name + ".key")),
      server: try #require(CurvePublicKey(keyed.broker.serverKey)))
    let socket = try Socket(context, kind, options)
    try socket.connect(address)
    return socket
  }

  private func push(_ socket: borrowing Socket, _ name: String) throws {
    let body = Array("{\"n\": 1}".utf8)
    #expect(waitUntil { (try? socket.trySend(Array(name.utf8), more: true)) ?? false })
    _ = try socket.trySend(body)
  }

  @Test func `a PUSH socket's events are taken by name`() throws {
    defer { keyed.stop() }
    let ann = try keyed.client("ann", publish: ["Order *"], subscribe: ["*"])
    let socket = try socket(.push, "ann", keyed.broker.addresses.push)
    for name in ["Order Placed", "Game Ended", "Order Sent"] { try push(socket, name) }
    let events = try ann.subscriber(keyed.bus).take(2)
    #expect(events.map(\.name) == ["Order Placed", "Order Sent"])
    #expect(waitUntil { keyed.refusals("push", "FORBIDDEN") == 1 })
    try keyed.revoke("ann")
    try push(socket, "Order Late")
    #expect(waitUntil { keyed.refusals("push", "FORBIDDEN") == 2 })
  }

  @Test func `a PUSH socket that was denied delivers by itself once it is authorised`() throws {
    defer { keyed.stop() }
    let bob = try keyed.client("bob", subscribe: ["*"])
    let ann = try keyed.generate("ann")
    let socket = try socket(.push, "ann", keyed.broker.addresses.push)
    try push(socket, "A")
    #expect(waitUntil { keyed.refusals("push", "DENIED") > 1 })
    var rights = AccessRights()
    rights.publish = ["A"]
    try keyed.authorize("ann", ann, rights)
    #expect(try bob.subscriber(keyed.bus).take(1).map(\.name) == ["A"])
  }

  @Test func `a live subscription without the right gets nothing, and others all`() throws {
    defer { keyed.stop() }
    let ann = try keyed.client("ann", publish: ["*"], subscribe: ["*"])
    let bob = try keyed.client("bob", subscribe: ["Game *"])
    let producer = try ann.producer(keyed.bus)
    // Bob's socket asks for everything, again and again, while events flow.
    let greedy = try socket(.sub, "bob", keyed.broker.addresses.live)
    try greedy.subscribe([])
    var allowed = try LiveSubscriber(busAddress: keyed.bus, names: ["Game Ended"], security: bob)
    #expect(try allowed.next(deadline: .seconds(10)) == .ready(name: "Game Ended"))
    var number = 0
    var message = Message()
    var stolen = 0
    #expect(
      try waitUntil {
        try producer.publish("Secret", number)
        try producer.publish("Game Ended", number)
        number += 1
        // A socket subscribes again only while somebody looks after it.
        if try greedy.tryReceive(into: &message) { stolen += 1 }
        return keyed.refusals("live", "FORBIDDEN") >= 5
      })
    #expect(producer.flushBlocking(deadline: .seconds(10)).acknowledged == UInt64(2 * number))
    #expect(stolen == 0)
    var sequences: [UInt64] = []
    while sequences.count < number, let item = try allowed.next(deadline: .seconds(10)) {
      if case .event(let event, let sequence) = item {
        #expect(event.name == "Game Ended")
        sequences.append(sequence)
      }
    }
    #expect(sequences == Array(1...UInt64(number)))
    #expect(throws: BusClientError.self) {
      _ = try LiveSubscriber(busAddress: keyed.bus, names: ["Secret"], security: bob)
    }
  }

  @Test func `a revoked key's live feed ends, and its reader is told`() throws {
    defer { keyed.stop() }
    let ann = try keyed.client("ann", publish: ["*"])
    let bob = try keyed.client("bob", subscribe: ["*"])
    let producer = try ann.producer(keyed.bus)
    var live = try LiveSubscriber(busAddress: keyed.bus, names: ["A"], security: bob)
    #expect(try live.next(deadline: .seconds(10)) == .ready(name: "A"))
    try producer.publish("A", 1)
    #expect(try live.next(deadline: .seconds(10)) != nil)
    try keyed.revoke("bob")
    // It knocks again and is not let in: then its old connection is gone for certain.
    #expect(waitUntil { keyed.refusals("live", "DENIED") > 0 })
    try producer.publish("A", 2)
    #expect(producer.flushBlocking(deadline: .seconds(10)).acknowledged == 2)
    let error = #expect(throws: BusClientError.self) {
      while let item = try live.next(deadline: .seconds(20)) {
        if case .event(_, let sequence) = item { #expect(sequence == 1) }
      }
    }
    guard case .denied? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `hundreds of bad handshakes a second leave the service up`() throws {
    defer { keyed.stop() }
    let ann = try keyed.client("ann", publish: ["*"])
    _ = try keyed.generate("eve")
    let producer = try ann.producer(keyed.bus)
    for round in 0..<5 {
      var attackers: [Attack] = []
      for _ in 0..<40 {
        attackers.append(Attack(try socket(.push, "eve", keyed.broker.addresses.push)))
      }
      try producer.publish("A", round)
      let result = producer.flushBlocking(deadline: .seconds(10))
      #expect(result.acknowledged == UInt64(round + 1))
      #expect(waitUntil { keyed.refusals("push", "DENIED") >= UInt64(40 * round) })
      _ = attackers.count
    }
    #expect(keyed.broker.isRunning)
    // The log is not flooded: one line a key and address.
    #expect(keyed.reports.all.count { $0.key == "denied" } == 1)
  }

  /// A socket in an array.
  private final class Attack {
    let socket: Socket
    init(_ socket: consuming Socket) { self.socket = socket }
  }
}
