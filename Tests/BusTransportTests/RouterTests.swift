internal import BusTransport
internal import Primitives
internal import Testing

struct `A router` {
  let context: ZeroMQContext
  let address = freshAddress("ipc")

  init() throws { context = try ZeroMQContext() }

  @Test func `throws for a peer that it does not know`() throws {
    let router = try Socket(context, .router)
    try router.bind(address)
    do throws(TransportError) {
      _ = try router.trySend([0, 1, 2, 3, 4], more: true)
      Issue.record("sent to nobody")
    } catch {
      #expect(error.kind == .unreachable)
    }
  }

  @Test(.timeLimit(.minutes(5)))
  func `refuses, and drops nothing, when a peer is full`() throws {
    var options = SocketOptions()
    options.sendHighWater = 10
    options.receiveHighWater = 10
    let address = freshAddress("inproc")
    let router = try Socket(context, .router, options)
    try router.bind(address)
    let dealer = try Socket(context, .dealer, options)
    try dealer.connect(address)
    _ = try dealer.trySend([1])
    let hello = try #require(try receive(router))
    var sent: [[UInt8]] = []
    while sent.count < 1000, try router.trySend(hello[0], more: true) {
      let body = [UInt8(sent.count & 0xFF)]
      _ = try router.trySend(body)
      sent.append(body)
    }
    #expect((1..<1000).contains(sent.count))
    let received = try receive(sent.count, dealer)
    #expect(received == sent)
  }

  @Test(.timeLimit(.minutes(5)))
  func `gives each peer an id of its own`() throws {
    let router = try Socket(context, .router)
    try router.bind(address)
    let first = try Socket(context, .dealer)
    let second = try Socket(context, .dealer)
    try first.connect(address)
    try second.connect(address)
    _ = try first.trySend([1])
    _ = try second.trySend([2])
    let ids = try receive(2, router)
    #expect(Set(ids).count == 2)
  }

  @Test(.timeLimit(.minutes(5)))
  func `drops the rest of a message of many frames`() throws {
    let router = try Socket(context, .router)
    try router.bind(address)
    let dealer = try Socket(context, .dealer)
    try dealer.connect(address)
    for _ in 0..<999 { _ = try dealer.trySend([7], more: true) }
    _ = try dealer.trySend([7])
    _ = try dealer.trySend([8])
    var message = Message()
    var poll = PollSet()
    let index = poll.add(router)
    while !poll.isReadable(index) { try poll.wait(milliseconds: 100) }
    _ = try router.tryReceive(into: &message)
    let dropped = try router.dropRest(&message)
    #expect(dropped == 1000)
    let next = try receive(router)
    #expect(next?.last == [8])
  }

  @Test(.timeLimit(.minutes(5)))
  func `cuts off a peer whose message is too large, and takes it back`() throws {
    var options = SocketOptions()
    options.maximumMessageBytes = 1000
    options.reconnectMilliseconds = 10
    let router = try Socket(context, .router, options)
    try router.bind(address)
    let dealer = try Socket(context, .dealer, options)
    try dealer.connect(address)
    _ = try dealer.trySend([UInt8](repeating: 1, count: 2000))
    // Whatever was under way with it is lost too, so the small one is sent until it arrives.
    var message = Message()
    var poll = PollSet()
    let index = poll.add(router)
    let deadline = SystemClock.monotonic() + patience
    while !poll.isReadable(index), SystemClock.monotonic() < deadline {
      _ = try dealer.trySend([2])
      try poll.wait(milliseconds: 20)
    }
    _ = try router.tryReceive(into: &message)
    _ = try router.tryReceive(into: &message)
    #expect(message.bytes.copied() == [2])
  }
}
