internal import BusTransport
internal import Primitives

/// The DEALER socket of one client and what its thread waits for. Made, used and closed by one thread.
struct BusConnection: ~Copyable {
  private let address: String
  private let context: ZeroMQContext
  private let wake: WakeSignal
  private var socket: Socket
  private var polls: PollSet
  private var message = Message()

  /// One for the whole process, as libzmq wants it.
  private static let shared: Result<ZeroMQContext, TransportError> = {
    do throws(TransportError) {
      return .success(try ZeroMQContext())
    } catch {
      return .failure(error)
    }
  }()

  static func context() throws(TransportError) -> ZeroMQContext { try shared.get() }

  /// Checks an address without keeping anything, so that a wrong one is told to whoever gave it.
  static func check(_ address: String) throws(BusClientError) {
    do throws(TransportError) {
      let socket = try connect(address, try context())
      _ = socket
    } catch {
      throw .configuration(text: error.description)
    }
  }

  static func open(
    _ address: String, wake: WakeSignal
  ) throws(BusClientError) -> BusConnection {
    do throws(TransportError) {
      return try BusConnection(address, wake: wake)
    } catch {
      throw .system(text: error.description)
    }
  }

  init(_ address: String, wake: WakeSignal) throws(TransportError) {
    let context = try Self.context()
    let socket = try Self.connect(address, context)
    self.address = address
    self.wake = wake
    self.context = context
    self.socket = socket
    polls = PollSet()
    _ = polls.add(self.socket)
    _ = polls.add(descriptor: wake.descriptor)
  }

  private static func connect(
    _ address: String, _ context: ZeroMQContext
  ) throws(TransportError) -> Socket {
    var options = SocketOptions()
    // The session's window and credit bound what is queued; a limit here would only lose messages.
    options.sendHighWater = 0
    options.receiveHighWater = 0
    options.maximumMessageBytes = 64 << 20
    let socket = try Socket(context, .dealer, options)
    try socket.connect(address)
    return socket
  }

  /// Drops what is queued, and connects anew.
  mutating func reconnect() throws(TransportError) {
    polls = PollSet()
    socket = try Self.connect(address, context)
    _ = polls.add(socket)
    _ = polls.add(descriptor: wake.descriptor)
  }

  /// Waits for a message, a wake-up, or the monotonic time.
  mutating func wait(until deadline: Int64) throws(TransportError) {
    let left = deadline == .max ? 60_000_000_000 : deadline - SystemClock.monotonic()
    try polls.wait(milliseconds: left <= 0 ? 0 : Int(min(60_000, (left + 999_999) / 1_000_000)))
    if polls.isReadable(1) { wake.clear() }
  }

  func send(_ bytes: RawSpan) throws(TransportError) -> Bool { try socket.trySend(bytes) }
  func send(_ bytes: [UInt8]) throws(TransportError) { _ = try socket.trySend(bytes) }

  /// Gives each message that is there to `body`, at most `limit`; further frames of one are dropped.
  mutating func receive(limit: Int, _ body: (RawSpan) -> Void) throws(TransportError) {
    for _ in 0..<limit {
      guard try socket.tryReceive(into: &message) else { return }
      guard !message.hasMore else {
        _ = try socket.dropRest(&message)
        continue
      }
      body(message.bytes)
    }
  }
}
