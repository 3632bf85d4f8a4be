internal import BusTransport
internal import Primitives
internal import Testing

struct `A live subscription` {
  let context: ZeroMQContext
  let address = freshAddress("ipc")

  init() throws { context = try ZeroMQContext() }

  @Test(.timeLimit(.minutes(5)))
  func `is exact with the NUL and a prefix without`() throws {
    let publisher = try Socket(context, .xpub)
    try publisher.bind(address)
    let exact = try Socket(context, .sub)
    try exact.connect(address)
    try exact.subscribe([UInt8](utf8: "Game Started\0"))
    let prefix = try Socket(context, .sub)
    try prefix.connect(address)
    try prefix.subscribe([UInt8](utf8: "Game Started"))
    _ = try receive(2, publisher)

    let names = ["Game Started Late\0", "Game Started\0"].map { [UInt8](utf8: $0) }
    // A body that reads like the topic selects nothing: only the first frame does.
    _ = try publisher.publish([UInt8](utf8: "Other\0"), names[1])
    for name in names { _ = try publisher.publish(name) }
    let byPrefix = try receive(2, prefix)
    let byName = try receive(1, exact)
    #expect(byPrefix == names)
    #expect(byName == [names[1]])
  }

  @Test(.timeLimit(.minutes(5)))
  func `is one of twenty thousand that all survive a restart of the publisher`() throws {
    let count = 20_000
    let subscriber = try Socket(context, .sub)
    for index in 0..<count { try subscriber.subscribe([UInt8](utf8: "name \(index)\0")) }
    try subscriber.connect(address)
    for _ in 0..<2 {
      let publisher = try Socket(context, .xpub)
      try publisher.bind(address)
      let arrived = try subscriptions(publisher, servicing: subscriber, count)
      #expect(arrived == count)
      let last = [UInt8](utf8: "name \(count - 1)\0")
      _ = try publisher.publish(last)
      let received = try receive(1, subscriber)
      #expect(received == [last])
    }
  }

  /// Counts the subscriptions that arrive. The subscriber sends them only while it is polled.
  private func subscriptions(
    _ publisher: borrowing Socket, servicing subscriber: borrowing Socket, _ count: Int
  ) throws -> Int {
    let deadline = SystemClock.monotonic() + patience
    var poll = PollSet()
    _ = (poll.add(publisher), poll.add(subscriber))
    var message = Message()
    var arrived = 0
    while arrived < count, SystemClock.monotonic() < deadline {
      try poll.wait(milliseconds: 100)
      while try publisher.tryReceive(into: &message) { arrived += 1 }
    }
    return arrived
  }

  @Test(.timeLimit(.minutes(5)), arguments: [1, 199, 200, 201, 245])
  func `works for a topic of that many bytes`(length: Int) throws {
    let topic = [UInt8](repeating: 0x61, count: length)
    let publisher = try Socket(context, .xpub)
    try publisher.bind(address)
    let subscriber = try Socket(context, .sub)
    try subscriber.connect(address)
    try subscriber.subscribe(topic)
    _ = try receive(1, publisher)
    _ = try publisher.publish(topic)
    let received = try receive(1, subscriber)
    #expect(received == [topic])
  }

  @Test(
    arguments: [
      ([1, 0x61], Socket.Subscription.subscribe([0x61])), ([1], .subscribe([])),
      ([0, 0x61, 0x62], .unsubscribe([0x61, 0x62])), ([], nil), ([2, 0x61], nil), ([0x68], nil),
    ] as [([UInt8], Socket.Subscription?)])
  func `is parsed, and other bytes of a peer are ignored`(
    frame: [UInt8], expected: Socket.Subscription?
  ) {
    let parsed = unsafe Socket.subscription(frame.span.bytes)
    #expect(parsed == expected)
  }
}
