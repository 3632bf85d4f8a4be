internal import BusTransport
internal import Primitives
internal import Synchronization
internal import TestSupport
internal import Testing

/// CURVE on a socket, with the authenticator of its context.
@Suite(.timeLimit(.minutes(5)))
struct CurveTests {
  let context: ZeroMQContext
  let server: CurveKeyPair
  let client: CurveKeyPair

  init() throws {
    context = try ZeroMQContext()
    server = try .generate()
    client = try .generate()
  }

  /// A bound router and a dealer that connects as `pair` to who it believes is `key`.
  private func link(
    _ pair: CurveKeyPair?, to key: CurvePublicKey, _ router: borrowing Socket
  ) throws -> Socket {
    var options = SocketOptions()
    options.reportsConnections = true
    options.curve = pair.map { .client($0, server: key) }
    let dealer = try Socket(context, .dealer, options)
    try dealer.connect(try router.lastEndpoint())
    return dealer
  }

  private func router() throws -> Socket {
    var options = SocketOptions()
    options.curve = .server(server.secretKey, domain: "here")
    let router = try Socket(context, .router, options)
    try router.bind("tcp://127.0.0.1:*")
    return router
  }

  @Test func `a key that is allowed gets in, and its user comes with each message`() throws {
    let allowed = client.publicKey
    var gate = try ConnectionAuthenticator(context) { request in
      request.key == allowed && request.domain == "here" && request.address == "127.0.0.1"
        ? .allow(user: "ann") : .deny
    }
    let router = try router()
    let dealer = try link(client, to: server.publicKey, router)
    try dealer.send(bytes("hello"))
    var message = Message()
    try Waiting.until {
      try gate.serve(milliseconds: 10)
      return try router.tryReceive(into: &message)
    }
    _ = try router.tryReceive(into: &message)
    let (text, user) = (message.bytes.copied(), message.user)
    #expect(text == bytes("hello"))
    #expect(user == bytes("ann"))
  }

  @Test func `a key that is not allowed is told so`() throws {
    var gate = try ConnectionAuthenticator(context) { _ in .deny }
    let router = try router()
    let dealer = try link(client, to: server.publicKey, router)
    try dealer.send(bytes("hello"))
    try waitFor(.denied, at: dealer, &gate)
    #expect(try router.drain().isEmpty)
  }

  @Test func `one that is denied for now tries again by itself`() throws {
    let asked = Counter()
    var gate = try ConnectionAuthenticator(context) { _ in
      asked.next() < 3 ? .denyForNow : .allow(user: "ann")
    }
    let router = try router()
    let dealer = try link(client, to: server.publicKey, router)
    try dealer.send(bytes("hello"))
    try waitFor(.ready, at: dealer, &gate)
    #expect(asked.value == 3)
  }

  @Test func `who expects another server does not get in`() throws {
    var gate = try ConnectionAuthenticator(context) { _ in .allow(user: "ann") }
    let router = try router()
    let dealer = try link(client, to: client.publicKey, router)
    try dealer.send(bytes("hello"))
    try waitFor(.handshakeFailed, at: dealer, &gate)
    #expect(try router.drain().isEmpty)
  }

  @Test func `who has no key is told that keys are asked for`() throws {
    var gate = try ConnectionAuthenticator(context) { _ in .allow(user: "ann") }
    let router = try router()
    let dealer = try link(nil, to: server.publicKey, router)
    try dealer.send(bytes("hello"))
    try waitFor(.mechanismsDiffer, at: dealer, &gate)
    #expect(try router.drain().isEmpty)
  }

  @Test func `a peer of the first protocol, which knows no keys, is cut off`() throws {
    var gate = try ConnectionAuthenticator(context) { _ in .allow(user: "ann") }
    let router = try router()
    let old = try RawConnection(to: try router.lastEndpoint())
    // An anonymous identity, then a message of one frame.
    old.send("\u{01}\u{00}\u{06}\u{00}hello")
    let isClosed = old.isClosedByPeer
    #expect(isClosed)
    try gate.serve(milliseconds: 0)
    #expect(try router.drain().isEmpty)
  }

  @Test func `without an authenticator a message has no user`() throws {
    let router = try router()
    let dealer = try link(client, to: server.publicKey, router)
    try dealer.send(bytes("hello"))
    var message = Message()
    try Waiting.until { try router.tryReceive(into: &message) }
    _ = try router.tryReceive(into: &message)
    let user = message.user
    #expect(user == nil)
  }

  @Test func `questions that make no sense are answered with a no, and stop nothing`() throws {
    var gate = try ConnectionAuthenticator(context) { _ in .allow(user: "ann") }
    let asker = try Socket(context, .dealer)
    try asker.connect("inproc://zeromq.zap.01")
    try asker.send(bytes("x"))
    try asker.send([], bytes("1.0"))
    try asker.send([], bytes("1.0"), bytes("7"), bytes("here"), bytes("::1"), [], bytes("PLAIN"))
    let long = [UInt8](repeating: 1, count: 100_000)
    try asker.send([], bytes("1.0"), bytes("8"), long, long, [], bytes("CURVE"), long)
    try asker.send(
      [], bytes("1.0"), bytes("9"), [], [], [], bytes("CURVE"), [], [], [], [], [], [], [], [], [])
    let wellFormed: [[UInt8]] = [
      [], bytes("1.0"), bytes("10"), bytes("here"), bytes("::1"), [], bytes("CURVE"),
      client.publicKey.bytes,
    ]
    for (index, frame) in wellFormed.enumerated() {
      _ = try asker.trySend(frame, more: index < wellFormed.count - 1)
    }
    try Waiting.until {
      try gate.serve(milliseconds: 10)
      return gate.malformed == 5
    }
    let statuses = try (0..<4).map { _ in
      let reply = try asker.receive()
      return String(decoding: reply[2] + bytes(" ") + reply[3], as: UTF8.self)
    }
    #expect(statuses == ["7 400", "8 400", "9 400", "10 200"])
  }

  private func waitFor(
    _ kind: ConnectionEvent.Kind, at socket: borrowing Socket, _ gate: inout ConnectionAuthenticator
  ) throws {
    var message = Message()
    try Waiting.until {
      try gate.serve(milliseconds: 10)
      return try socket.nextConnectionEvent(using: &message)?.kind == kind
    }
  }
}

/// Keys as files and as text.
struct CurveKeyTests {
  @Test func `a key is 40 characters, and the same again when read`() throws {
    let pair = try CurveKeyPair.generate()
    let text = "\(pair.publicKey)"
    #expect(text.utf8.count == 40)
    #expect(!text.hasPrefix("-"))
    #expect(CurvePublicKey(text) == pair.publicKey)
  }

  @Test(arguments: [
    "", "abc", String(repeating: "#", count: 40), String(repeating: "0", count: 45),
  ])
  func `what is no key is refused`(text: String) { #expect(CurvePublicKey(text) == nil) }

  @Test func `a key file gives the pair back, and its public half to everybody`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/shop.key"
    let pair = try CurveKeyPair.generate()
    try CurveKeyFile.write(pair, to: path, name: "shop", replacing: false)
    #expect(try CurveKeyFile.pair(path).publicKey == pair.publicKey)
    #expect(try CurveKeyFile.publicKey(path + ".pub") == pair.publicKey)
    #expect(throws: CurveKeyFile.Failure.self) { _ = try CurveKeyFile.pair(path + ".pub") }
  }

  @Test func `a path that looks like a key is a path`() throws {
    let folder = try TemporaryFolder()
    let pair = try CurveKeyPair.generate()
    let path = folder.path + "/" + String(repeating: "k", count: 39 - folder.path.utf8.count)
    try #require(CurvePublicKey(path) != nil)
    #expect(try CurveKeyFile.publicKey(orFile: "\(pair.publicKey)").key == pair.publicKey)
    try CurveKeyFile.write(pair, to: path, name: "shop", replacing: false)
    let (key, isFile) = try CurveKeyFile.publicKey(orFile: path)
    #expect(key == pair.publicKey && isFile)
    #expect(throws: CurveKeyFile.Failure.self) {
      _ = try CurveKeyFile.publicKey(orFile: folder.path + "/nothing")
    }
  }

  @Test func `a key file is not written over`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/shop.key"
    let first = try CurveKeyPair.generate()
    try CurveKeyFile.write(first, to: path, name: "shop", replacing: false)
    let second = try CurveKeyPair.generate()
    #expect(throws: CurveKeyFile.Failure.self) {
      try CurveKeyFile.write(second, to: path, name: "shop", replacing: false)
    }
    #expect(try CurveKeyFile.pair(path).publicKey == first.publicKey)
  }
}

private final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  var value: Int { count.load(ordering: .sequentiallyConsistent) }
  func next() -> Int { count.add(1, ordering: .sequentiallyConsistent).newValue }
}
