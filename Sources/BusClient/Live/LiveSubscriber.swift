internal import BusProtocol
internal import BusTransport
internal import Primitives

/// Follows events as they happen, at most once: a slow reader loses, and is told how much.
///
/// Belongs to the thread that made it, which should read it steadily. Connects again by itself; what
/// passed meanwhile is reported as lost by the first beacon or event behind it. The feed itself tells nobody that
/// his key was revoked: one that uses keys asks at the bus's address when its connection ends.
public struct LiveSubscriber: ~Copyable {
  /// The name in the ready sign of a subscription to everything. No event has it.
  public static let everything = "$"

  private var socket: Socket
  private var polls: PollSet
  private var core = LiveCore()
  private var topic = Message()
  private var payload = Message()
  private var meta = Message()
  private var waiting = Queue<LiveItem>()
  /// Where to ask whether it is still let in; nil without keys, and where only the feed's address is known.
  private var door: Door?

  private struct Door {
    let bus: String
    let names: [String]
    let security: BusSecurity
    var nextLook: Int64 = 0
  }
  /// Between two questions, and for the answer to one.
  private static let lookNanoseconds: Int64 = 3_000_000_000
  private static let answerDeadline = Duration.seconds(2)

  /// Asks the broker at its bus address where the live feed is, and subscribes.
  ///
  /// - Parameter names: exact names, each with a ready sign and a beacon; empty means every event, with
  ///   one ready sign and without beacons, so that a lost last event goes unnoticed.
  public init(
    busAddress: String, names: [String], security: BusSecurity? = .ofProcess,
    deadline: Duration = .seconds(5)
  ) throws(BusClientError) {
    let address = try Self.liveAddress(busAddress, names, security, deadline)
    try self.init(liveAddress: address, names: names, security: security)
    door = security.map { Door(bus: busAddress, names: names, security: $0) }
  }

  public init(
    liveAddress: String, names: [String], security: BusSecurity? = .ofProcess
  ) throws(BusClientError) {
    let socket = try Self.connect(liveAddress, names, security)
    self.socket = socket
    polls = PollSet()
    _ = polls.add(self.socket)
    _ = polls.addConnectionEvents(of: self.socket)
  }

  private static func connect(
    _ address: String, _ names: [String], _ security: BusSecurity?
  ) throws(BusClientError) -> Socket {
    do throws(TransportError) {
      var options = SocketOptions()
      options.receiveHighWater = 100_000
      // Whoever reads slowly must not end with the broker: see `heartbeatMilliseconds`.
      options.heartbeatMilliseconds = 0
      options.curve = security?.role
      options.reportsConnections = true
      let socket = try Socket(try BusConnection.context(), .sub, options)
      for name in names {
        try socket.subscribe(Array(name.utf8) + [0])
        try socket.subscribe(LiveMeta.beaconPrefix + Array(name.utf8) + [0])
      }
      if names.isEmpty {
        try socket.subscribe([])
        try socket.subscribe(LiveMeta.beaconPrefix + Array(everything.utf8) + [0])
      }
      try socket.connect(address)
      return socket
    } catch {
      throw .system(text: error.description)
    }
  }

  private static func liveAddress(
    _ bus: String, _ names: [String], _ security: BusSecurity?, _ deadline: Duration
  ) throws(BusClientError) -> String {
    var configuration = SubscriberConfiguration(address: bus, client: "live")
    configuration.start = .latest
    configuration.security = security
    // The same rights are asked for as the feed will be: a no is heard here, and only here.
    configuration.filters = names.map { NameFilter(.exact, $0) }
    let session = try Subscriber(configuration)
    guard try session.waitUntilLetIn(deadline: deadline), let opened = session.status.opened else {
      throw .timedOut(what: "\(bus) did not answer within \(deadline)")
    }
    session.close()
    return ReachableAddress.of(opened.broker.liveAddress, through: bus)
  }

  /// The next item; nil when none came by the deadline. Blocks, after the end of a connection with keys for up
  /// to 2 s longer.
  ///
  /// - Throws: `.denied` when the key is not let in any more.
  public mutating func next(deadline duration: Duration? = nil) throws(BusClientError) -> LiveItem?
  {
    let end = deadline(after: duration)
    while true {
      let isCut: Bool
      do throws(TransportError) {
        if let item = waiting.popFirst() { return item }
        if try receive() { continue }
        isCut = try wasCut()
        if !isCut {
          let left = end == .max ? Int64(60_000_000_000) : end - SystemClock.monotonic()
          guard left > 0 else { return nil }
          try polls.wait(milliseconds: Int(min(60_000, left / 1_000_000 + 1)))
        }
      } catch {
        throw .system(text: error.description)
      }
      if isCut { try askAtTheDoor() }
    }
  }

  /// Whether a connection ended or was not let in since the last look.
  private mutating func wasCut() throws(TransportError) -> Bool {
    var isCut = false
    while let event = try socket.nextConnectionEvent(using: &topic) {
      switch event.kind {
      case .disconnected, .handshakeFailed, .mechanismsDiffer, .denied: isCut = true
      case .connected, .accepted, .ready, .retrying, .acceptFailed: break
      }
    }
    return isCut
  }

  private mutating func askAtTheDoor() throws(BusClientError) {
    guard let door, SystemClock.monotonic() >= door.nextLook else { return }
    self.door?.nextLook = SystemClock.monotonic() + Self.lookNanoseconds
    do throws(BusClientError) {
      _ = try Self.liveAddress(door.bus, door.names, door.security, Self.answerDeadline)
    } catch {
      // A broker that is away comes back, and libzmq finds it.
      if case .denied = error { throw error }
    }
  }

  /// Takes one message if there is one.
  private mutating func receive() throws(TransportError) -> Bool {
    guard try socket.tryReceive(into: &topic) else { return false }
    guard topic.hasMore, try socket.tryReceive(into: &payload) else { return true }
    guard payload.hasMore, try socket.tryReceive(into: &meta) else { return true }
    _ = try socket.dropRest(&meta)
    for item in Self.read(&core, topic, payload, meta) { waiting.append(item) }
    return true
  }

  private static func read(
    _ core: inout LiveCore, _ topic: borrowing Message, _ payload: borrowing Message,
    _ meta: borrowing Message
  ) -> [LiveItem] {
    core.receive(topic.bytes, payload.bytes, meta.bytes)
  }
}
