internal import BusTransport
internal import Primitives
internal import Testing

struct `A message` {
  let context: ZeroMQContext
  let address = freshAddress("ipc")

  init() throws { context = try ZeroMQContext() }

  // 33 bytes is the largest that libzmq keeps inside its own structure.
  @Test(.timeLimit(.minutes(5)), arguments: [0, 1, 33, 34, 8192, 1_000_000])
  func `arrives as it was sent, copied or not`(count: Int) throws {
    let pull = try Socket(context, .pull)
    try pull.bind(address)
    let push = try Socket(context, .push)
    try push.connect(address)
    let expected = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    var owned = expected
    let copy = unsafe Message(copying: owned.span.bytes)
    let lent = Message(owning: owned)
    // The array is the caller's again: what it does with it does not reach the message.
    for index in owned.indices { owned[index] = 0xFF }
    _ = try push.trySend(copy)
    _ = try push.trySend(lent)
    _ = try push.trySend(expected)
    let received = try receive(3, pull)
    #expect(received == [expected, expected, expected])
  }

  @Test(.timeLimit(.minutes(5)))
  func `is reused for whatever comes next`() throws {
    let pull = try Socket(context, .pull)
    try pull.bind(address)
    let push = try Socket(context, .push)
    try push.connect(address)
    let sizes = [40_000, 0, 7, 33, 100]
    for size in sizes { _ = try push.trySend([UInt8](repeating: 1, count: size)) }
    var message = Message()
    var poll = PollSet()
    _ = poll.add(pull)
    var received: [Int] = []
    let deadline = SystemClock.monotonic() + patience
    while received.count < sizes.count, SystemClock.monotonic() < deadline {
      try poll.wait(milliseconds: 100)
      while try pull.tryReceive(into: &message) { received.append(message.byteCount) }
    }
    #expect(received == sizes)
  }

  @Test(.timeLimit(.minutes(5)))
  func `tells the connection that it came by`() throws {
    let pull = try Socket(context, .pull)
    try pull.bind(address)
    let push = try Socket(context, .push)
    try push.connect(address)
    _ = try push.trySend([1])
    var message = Message()
    var poll = PollSet()
    let index = poll.add(pull)
    while !poll.isReadable(index) { try poll.wait(milliseconds: 100) }
    _ = try pull.tryReceive(into: &message)
    let descriptor = message.sourceDescriptor
    #expect((descriptor ?? 0) > 2)
  }
}
