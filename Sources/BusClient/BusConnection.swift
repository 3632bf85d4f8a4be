internal import BusTransport
internal import Primitives

/// The DEALER socket of one client and what its thread waits for. Made, used and closed by one thread.
struct BusConnection: ~Copyable {
  private let address: String
  private let security: BusSecurity?
  private let context: ZeroMQContext
  private let wake: WakeSignal
  private var socket: Socket
  private var polls: PollSet
  private var message = Message()
  /// Why the newest connection was not let in; nil once another is tried, and while all is well.
  private var denial: ConnectionDenial?
  private var toldDenial: ConnectionDenial?

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
  static func check(_ address: String, _ security: BusSecurity?) throws(BusClientError) {
    do throws(TransportError) {
      let socket = try connect(address, security, try context())
      _ = socket
    } catch {
      throw .configuration(text: error.description)
    }
  }

  static func open(
    _ address: String, _ security: BusSecurity?, wake: WakeSignal
  ) throws(BusClientError) -> BusConnection {
    do throws(TransportError) {
      return try BusConnection(address, security, wake: wake)
    } catch {
      throw .system(text: error.description)
    }
  }

  init(_ address: String, _ security: BusSecurity?, wake: WakeSignal) throws(TransportError) {
    let context = try Self.context()
    let socket = try Self.connect(address, security, context)
    self.address = address
    self.security = security
    self.wake = wake
    self.context = context
    self.socket = socket
    polls = PollSet()
    addPolls()
  }

  private mutating func addPolls() {
    _ = polls.add(socket)
    _ = polls.add(descriptor: wake.descriptor)
    _ = polls.addConnectionEvents(of: socket)
  }

  private static func connect(
    _ address: String, _ security: BusSecurity?, _ context: ZeroMQContext
  ) throws(TransportError) -> Socket {
    var options = SocketOptions()
    // The session's window and credit bound what is queued; a limit here would only lose messages.
    options.sendHighWater = 0
    options.receiveHighWater = 0
    options.maximumMessageBytes = 64 << 20
    options.curve = security?.role
    // Who is not let in hears of it this way alone.
    options.reportsConnections = true
    let socket = try Socket(context, .dealer, options)
    try socket.connect(address)
    return socket
  }

  /// Drops what is queued, and connects anew.
  mutating func reconnect() throws(TransportError) {
    polls = PollSet()
    socket = try Self.connect(address, security, context)
    denial = nil
    toldDenial = nil
    addPolls()
  }

  /// Waits for a message, a wake-up, or the monotonic time.
  mutating func wait(until deadline: Int64) throws(TransportError) {
    let left = deadline == .max ? 60_000_000_000 : deadline - SystemClock.monotonic()
    try polls.wait(milliseconds: left <= 0 ? 0 : Int(min(60_000, (left + 999_999) / 1_000_000)))
    if polls.isReadable(1) { wake.clear() }
    if polls.isReadable(2) { try readConnectionEvents() }
  }

  /// Why the newest connection was not let in; the same reason is told once.
  mutating func takeDenial() -> ConnectionDenial? {
    guard let denial = denial.take(), denial != toldDenial else { return nil }
    toldDenial = denial
    return denial
  }

  private mutating func readConnectionEvents() throws(TransportError) {
    while let event = try socket.nextConnectionEvent(using: &message) {
      switch event.kind {
      case .ready:
        denial = nil
        toldDenial = nil
      case .denied: denial = .unknownKey(security?.publicKey ?? "")
      case .mechanismsDiffer: denial = security == nil ? .needsKey : .wantsNoKey
      case .handshakeFailed:
        // Without keys a broker that ends in the middle looks the same, and is found again.
        if let security { denial = .brokeOff("\(security.server)") }
      case .connected, .accepted, .disconnected, .retrying, .acceptFailed: break
      }
    }
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
