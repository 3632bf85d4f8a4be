internal import BusTransport
internal import EventJournal
internal import Primitives
internal import Synchronization

/// The thread that owns the live feed's XPUB socket: one message an event, to whoever subscribes.
///
/// Fed through a mailbox with durable groups. It bounds itself by `maximumBytes` waiting: the bus thread
/// then skips, and counts, what it would have passed on.
final class LiveThread: Sendable {
  static let maximumBytes = 16 << 20

  private let mailbox: Mailbox<LiveGroup?>
  private let shared: Shared
  private let thread: OwnedThread
  private let floodGuard: LiveFloodGuard
  let address: String

  final class Shared: Sendable {
    let waitingBytes = Atomic<Int>(0)
    let dropEpisodes = Atomic<UInt64>(0)
    let refusedSubscriptions = Atomic<UInt64>(0)
    let pulse = LiveFloodGuard.Pulse()
  }

  init(
    context: ZeroMQContext, address: String, access: AccessThread?, handshakes: HandshakeCounts,
    epoch: UInt32, results: Mailbox<BrokerEvent>
  ) throws {
    let mailbox = try Mailbox<LiveGroup?>()
    let shared = Shared()
    let gate = try StartGate()
    self.mailbox = mailbox
    self.shared = shared
    thread = try OwnedThread(name: "eb-live") {
      let failure = gate.run { opened in
        var options = SocketOptions()
        // Subscriptions are short; what comes in and is longer ends its connection. A handshake with keys
        // and a routing id needs as much.
        options.maximumMessageBytes = 640
        // What has come in is stored before it can be refused, so little may come in at a time.
        options.receiveHighWater = 100
        options.receiveBufferBytes = 16 << 10
        options.heartbeatMilliseconds = 0
        options.sendHighWater = 20_000
        options.curve = access.map { $0.role(.live) }
        options.reportsFailures = true
        let socket = try Socket(context, .xpub, options)
        try socket.bind(address)
        opened(try socket.lastEndpoint())
        var loop = try LiveLoop(
          socket: socket, mailbox: mailbox, shared: shared, guarded: access.map { LiveGuard($0) },
          handshakes: handshakes, epoch: epoch)
        try loop.run()
      }
      if let failure { results.post(.threadFailed("live feed", "\(failure)")) }
    }
    self.address = try gate.wait()
    floodGuard = try LiveFloodGuard(shared.pulse, address: self.address)
  }

  var isBehind: Bool { shared.waitingBytes.load(ordering: .relaxed) > Self.maximumBytes }
  var dropEpisodes: UInt64 { shared.dropEpisodes.load(ordering: .relaxed) }
  /// Each ended its connection.
  var refusedSubscriptions: UInt64 {
    shared.refusedSubscriptions.load(ordering: .relaxed)
      + shared.pulse.cut.load(ordering: .relaxed)
  }

  func post(_ group: LiveGroup) {
    shared.waitingBytes.add(group.chunk?.bytes.count ?? 0, ordering: .relaxed)
    mailbox.post(group)
  }

  deinit { stop() }

  func stop() {
    floodGuard.stop()
    mailbox.post(nil)
    thread.join()
  }
}
