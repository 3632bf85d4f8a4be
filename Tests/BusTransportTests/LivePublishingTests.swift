internal import BusTransport
internal import Primitives
internal import Testing

/// XPUB towards SUB: who gets what, and what is told of losses.
@Suite(.timeLimit(.minutes(5)))
struct LivePublishingTests {
  let context: ZeroMQContext

  init() throws { context = try ZeroMQContext() }

  /// A publisher, and reads its subscriptions until there are `count`.
  private func awaitSubscriptions(_ publisher: borrowing Socket, _ count: Int) throws {
    var message = Message()
    var seen = 0
    try Waiting.until {
      while try publisher.tryReceive(into: &message) { seen += 1 }
      return seen >= count
    }
    #expect(seen == count)
  }

  @discardableResult
  private func publish(
    _ publisher: borrowing Socket, _ topic: [UInt8], _ body: [UInt8]
  ) throws -> Bool {
    let meta: [UInt8] = [7]
    return try unsafe publisher.publish(topic.span.bytes, body.span.bytes, meta.span.bytes)
  }

  @Test func `an unsubscription reaches the publisher and ends delivery`() throws {
    let publisher = try Socket(context, .xpub)
    let address = try publisher.bindAnywhere()
    let subscriber = try Socket(context, .sub)
    try subscriber.connect(address)
    try subscriber.subscribe(bytes("a\0"))
    try subscriber.subscribe(bytes("b\0"))
    try awaitSubscriptions(publisher, 2)
    try subscriber.unsubscribe(bytes("a\0"))
    let frame = try publisher.receive()[0]
    let change = unsafe Socket.subscription(frame.span.bytes)
    #expect(change == .unsubscribe(bytes("a\0")))
    #expect(try publish(publisher, bytes("a\0"), []))
    #expect(try publish(publisher, bytes("b\0"), []))
    #expect(try subscriber.receive()[0] == bytes("b\0"))
  }

  @Test func `a stopped subscriber loses, is counted once, and harms nobody`() throws {
    let count = 2000
    var options = SocketOptions()
    options.sendHighWater = 50
    options.receiveHighWater = 50
    let publisher = try Socket(context, .xpub, options)
    try publisher.bind("inproc://drops")
    let healthy = try Socket(context, .sub, options)
    let stopped = try Socket(context, .sub, options)
    try healthy.connect("inproc://drops")
    try stopped.connect("inproc://drops")
    try healthy.subscribe([])
    try stopped.subscribe([])
    try awaitSubscriptions(publisher, 2)
    var episodes = 0
    var received = 0
    for number in 0..<count {
      if try !publish(publisher, bytes("t\0"), bytes("\(number)")) { episodes += 1 }
      received += try healthy.drain().count
    }
    #expect(received == count)
    #expect(episodes == 1)
    let kept = try stopped.drain().count
    #expect(kept > 0 && kept < count)
    // Having read, it takes part again, as soon as the publisher has heard of it.
    try Waiting.until {
      try publish(publisher, bytes("t\0"), bytes("again"))
      return try !stopped.drain().isEmpty
    }
  }
}
