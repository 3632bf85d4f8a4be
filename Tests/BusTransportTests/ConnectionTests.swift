internal import BusTransport
internal import Primitives
internal import Testing

/// What a socket does and tells when links come and go.
@Suite(.timeLimit(.minutes(5)))
struct ConnectionTests {
  let context: ZeroMQContext
  let reporting: SocketOptions

  init() throws {
    context = try ZeroMQContext()
    var options = SocketOptions()
    options.reportsConnections = true
    reporting = options
  }

  @Test func `both ends are told of a link and of its end`() throws {
    let router = try Socket(context, .router, reporting)
    let address = try router.bindAnywhere()
    do {
      let dealer = try Socket(context, .dealer, reporting)
      try dealer.connect(address)
      #expect(try dealer.waitForConnection(.connected).address == address)
      #expect(try dealer.waitForConnection(.ready).address == address)
      #expect(try router.waitForConnection(.accepted).value > 0)
      _ = try router.waitForConnection(.ready)
    }
    _ = try router.waitForConnection(.disconnected)
  }

  @Test func `reports wake who polls for them`() throws {
    let router = try Socket(context, .router, reporting)
    let address = try router.bindAnywhere()
    var poll = PollSet()
    let messages = poll.add(router)
    let events = poll.addConnectionEvents(of: router)
    #expect(try poll.wait(milliseconds: 0) == 0)
    let dealer = try Socket(context, .dealer)
    try dealer.connect(address)
    try Waiting.until { try poll.wait(milliseconds: 100) > 0 }
    let (isEvent, isMessage) = (poll.isReadable(events), poll.isReadable(messages))
    #expect(isEvent)
    #expect(!isMessage)
  }

  @Test func `who connects and says nothing is shown out`() throws {
    var options = reporting
    options.handshakeMilliseconds = 100
    let router = try Socket(context, .router, options)
    let silent = try RawConnection(to: try router.bindAnywhere())
    _ = try router.waitForConnection(.handshakeFailed)
    let isClosed = silent.isClosedByPeer
    #expect(isClosed)
  }

  @Test func `of failures alone is told where that is asked for, and why each failed`() throws {
    var options = SocketOptions()
    options.reportsFailures = true
    options.handshakeMilliseconds = 100
    let router = try Socket(context, .router, options)
    let address = try router.bindAnywhere()
    let dealer = try Socket(context, .dealer)
    try dealer.connect(address)
    try dealer.send(bytes("hello"))
    #expect(try router.receive().last == bytes("hello"))
    let silent = try RawConnection(to: address)
    // The first thing that is told, though a peer was accepted and shook hands before.
    var message = Message()
    var first: ConnectionEvent?
    try Waiting.until {
      first = try router.nextConnectionEvent(using: &message)
      return first != nil
    }
    #expect(first?.failure == .ended)
    let isClosed = silent.isClosedByPeer
    #expect(isClosed)
  }

  @Test func `who speaks another language harms nobody`() throws {
    let router = try Socket(context, .router, reporting)
    let address = try router.bindAnywhere()
    let browser = try RawConnection(to: address)
    browser.send("GET / HTTP/1.1\r\nHost: here\r\n\r\n")
    let dealer = try Socket(context, .dealer)
    try dealer.connect(address)
    try dealer.send(bytes("hello"))
    #expect(try router.receive().last == bytes("hello"))
  }

  @Test func `reports that nobody reads stop nothing`() throws {
    // libzmq waits for the reader of its reports: a limit of 1000 would stop its I/O thread here.
    let router = try Socket(context, .router, reporting)
    try router.bind("tcp://127.0.0.1:*")
    let address = try router.lastEndpoint()
    for number in 0..<600 {
      let dealer = try Socket(context, .dealer)
      try dealer.connect(address)
      try dealer.send(bytes("\(number)"))
      #expect(try router.receive()[1] == bytes("\(number)"))
    }
    var message = Message()
    var events = 0
    try Waiting.until {
      while try router.nextConnectionEvent(using: &message) != nil { events += 1 }
      return events >= 1800
    }
  }

  @Test func `a message over the limit ends the connection, and the report shows it`() throws {
    var options = reporting
    options.maximumMessageBytes = 1000
    let pull = try Socket(context, .pull, options)
    let push = try Socket(context, .push)
    try push.connect(try pull.bindAnywhere())
    try push.send([UInt8](repeating: 1, count: 1000))
    #expect(try pull.receive()[0].count == 1000)
    try push.send([UInt8](repeating: 1, count: 1001))
    _ = try pull.waitForConnection(.disconnected)
    _ = try pull.waitForConnection(.ready)
    try push.send(bytes("after"))
    #expect(try pull.receive() == [bytes("after")])
  }

  @Test func `a dealer finds a router that was restarted`() throws {
    let dealer = try Socket(context, .dealer, reporting)
    let address: String
    do {
      let router = try Socket(context, .router)
      address = try router.bindAnywhere()
      try dealer.connect(address)
      _ = try dealer.waitForConnection(.ready)
    }
    _ = try dealer.waitForConnection(.disconnected)
    let router = try Socket(context, .router)
    try Waiting.until {
      do throws(TransportError) { try router.bind(address) } catch { return false }
      return true
    }
    _ = try dealer.waitForConnection(.ready)
    try dealer.send(bytes("again"))
    #expect(try router.receive()[1] == bytes("again"))
  }

  @Test func `an address is free again after unbinding`() throws {
    let first = try Socket(context, .router)
    let second = try Socket(context, .router)
    let address = try first.bindAnywhere()
    #expect(throws: TransportError.self) { try second.bind(address) }
    try first.unbind(address)
    try Waiting.until {
      do throws(TransportError) {
        try second.bind(address)
        return true
      } catch {
        #expect(error.kind == .addressInUse)
        return false
      }
    }
  }
}
