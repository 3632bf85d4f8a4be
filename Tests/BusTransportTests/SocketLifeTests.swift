internal import BusTransport
internal import Primitives
internal import Synchronization
internal import Testing

struct `A socket` {
  let context: ZeroMQContext

  init() throws { context = try ZeroMQContext() }

  @Test func `is told the port that the system chose`() throws {
    let router = try Socket(context, .router)
    try router.bind("tcp://127.0.0.1:*")
    let endpoint = try router.lastEndpoint()
    let port = endpoint.split(separator: ":").last.flatMap { UInt16($0) }
    #expect(endpoint.hasPrefix("tcp://127.0.0.1:"))
    #expect(port != nil && port != 0)
  }

  @Test func `says that its address is taken`() throws {
    let first = try Socket(context, .router)
    try first.bind("tcp://127.0.0.1:*")
    let address = try first.lastEndpoint()
    let second = try Socket(context, .router)
    do throws(TransportError) {
      try second.bind(address)
      Issue.record("bound twice")
    } catch {
      #expect(error.kind == .addressInUse)
      #expect(error.description.contains(address))
    }
  }

  @Test(arguments: ["127.0.0.1:7400", "tcp://", "tcp://127.0.0.1:port", "warp://x"])
  func `refuses an address that is none`(address: String) throws {
    let socket = try Socket(context, .router)
    do throws(TransportError) {
      try socket.bind(address)
      Issue.record("bound to \(address)")
    } catch {
      #expect(error.kind == .badAddress)
    }
  }

  @Test(.timeLimit(.minutes(5)))
  func `is closed at once although its messages wait for a peer that never comes`() throws {
    let started = SystemClock.monotonic()
    do {
      let own = try ZeroMQContext()
      let dealer = try Socket(own, .dealer)
      try dealer.connect("tcp://127.0.0.1:1")
      let isQueued = try dealer.trySend([1])
      #expect(isQueued)
    }
    // libzmq's own default would wait for ever in the context's end.
    #expect(SystemClock.monotonic() - started < patience)
  }

  @Test(arguments: [Socket.Kind.dealer, .push])
  func `queues nothing for a link that is not up when told so`(kind: Socket.Kind) throws {
    var options = SocketOptions()
    options.sendsOnlyWhenConnected = true
    let socket = try Socket(context, kind, options)
    try socket.connect("tcp://127.0.0.1:1")
    let isQueued = try socket.trySend([1])
    #expect(!isQueued)
  }

  @Test func `is refused beyond the context's limit`() throws {
    let small = try ZeroMQContext(maximumSockets: 1)
    let first = try Socket(small, .pull)
    do throws(TransportError) {
      _ = try Socket(small, .pull)
      Issue.record("a second socket")
    } catch {
      #expect(error.kind == .exhausted)
    }
    _ = first.kind
  }

  @Test(.timeLimit(.minutes(5)))
  func `is left by its waiting thread when the context shuts down`() throws {
    let outcome = Outcome()
    let context = context
    let ready = try WakeSignal()
    let thread = try OwnedThread(name: "waiting") {
      do throws(TransportError) {
        let socket = try Socket(context, .pull)
        var poll = PollSet()
        _ = poll.add(socket)
        ready.signal()
        while true { try poll.wait(milliseconds: -1) }
      } catch {
        outcome.error.withLock { $0 = error }
      }
    }
    ready.wait()
    context.shutdown()
    thread.join()
    let error = outcome.error.withLock { $0 }
    #expect(error?.kind == .terminated)
  }

  private final class Outcome: Sendable {
    let error = Mutex<TransportError?>(nil)
  }

  @Test(.timeLimit(.minutes(5)))
  func `is polled together with a descriptor`() throws {
    let wake = try WakeSignal()
    let socket = try Socket(context, .pull)
    var poll = PollSet()
    let (pull, signal) = (poll.add(socket), poll.add(descriptor: wake.descriptor))
    let before = try poll.wait(milliseconds: 0)
    #expect(before == 0)
    wake.signal()
    let ready = try poll.wait(milliseconds: 1000)
    #expect(ready == 1)
    let (hasMessage, hasSignal) = (poll.isReadable(pull), poll.isReadable(signal))
    #expect(!hasMessage)
    #expect(hasSignal)
  }
}
