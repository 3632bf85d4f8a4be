internal import Synchronization
internal import BusProtocol
internal import BusTransport
internal import EventJournal
internal import Primitives

/// The frames under way, apart from the loop so that they can be read while it changes.
private final class Frames {
  var id = Message()
  var body = Message()
}

/// The bus thread: it owns the ROUTER socket and the core, and does nothing slow.
///
/// A turn: take what came (bounded), take news of the other threads, let the core decide, perform.
struct BusLoop: ~Copyable {
  /// Messages and bytes taken from the socket in one turn, so that deliveries and commits get theirs, and
  /// the writer begins before all that waits has been looked at.
  private static let turn = 256
  private static let turnBytes = 1 << 20
  private static let tickNanoseconds: Int64 = 1_000_000_000
  /// How long an end may wait for the disk.
  private static let drainNanoseconds: Int64 = 8_000_000_000

  private let socket: Socket
  private let parts: BrokerParts
  private let shared: Broker.Shared
  private let report: @Sendable (OperatorReport) -> Void
  private var core: BrokerCore
  /// Nil when nobody is asked for a key.
  private var access: AccessView?
  private var poll = PollSet()
  private let socketItem, wakeItem, failureItem: Int
  private let frames = Frames()
  private var watch = BrokerWatch()
  private var nextTick: Int64
  private var drainDeadline: Int64?
  private var failure: String?

  init(
    _ parts: BrokerParts, address: String, shared: Broker.Shared,
    report: @escaping @Sendable (OperatorReport) -> Void
  ) throws {
    var options = SocketOptions()
    options.maximumMessageBytes = Int64(parts.configuration.limits.messageBytes + (64 << 10))
    // Credits and windows bound what is queued; the marks are for peers that ignore them.
    // The last acknowledgements and goodbyes still go out.
    options.lingerMilliseconds = 500
    options.sendHighWater = 4096
    options.receiveHighWater = 512
    // Sessions have heartbeats of their own.
    options.heartbeatMilliseconds = 0
    options.curve = parts.access.map { $0.role(.bus) }
    options.reportsFailures = true
    let socket = try Socket(parts.context, .router, options)
    try socket.bind(address)
    socketItem = poll.add(socket)
    wakeItem = poll.add(descriptor: parts.events.wake.descriptor)
    failureItem = poll.addConnectionEvents(of: socket)
    self.socket = socket
    self.parts = parts
    self.shared = shared
    self.report = report
    core = parts.core
    access = parts.access.map { AccessView($0.control) }
    core.access = access?.table
    nextTick = SystemClock.monotonic()
  }

  func address() throws -> String { try socket.lastEndpoint() }

  mutating func run() throws {
    defer { stopThreads() }
    var hasMore = false
    while failure == nil {
      let wait = hasMore ? 0 : max(0, (nextTick - SystemClock.monotonic() + 999_999) / 1_000_000)
      try poll.wait(milliseconds: Int(wait))
      let now = SystemClock.realtime()
      if poll.isReadable(wakeItem) { takeEvents(at: now) }
      if poll.isReadable(failureItem) {
        try parts.handshakes.read(socket, .bus, using: &frames.id)
      }
      hasMore = try receive(at: now)
      tickIfDue(at: now)
      core.flush()
      hasMore = core.deliver() || hasMore
      core.writeCursors()
      try perform()
      parts.plain.pause(core.wantsPlainPaused)
      if try endIfDrained() { return }
    }
    throw BrokerFailure(text: failure ?? "")
  }

  private mutating func receive(at now: Int64) throws -> Bool {
    var bytes = 0
    for _ in 0..<Self.turn where bytes < Self.turnBytes {
      guard try socket.tryReceive(into: &frames.id) else { return false }
      guard frames.id.hasMore, try socket.tryReceive(into: &frames.body) else { continue }
      guard let peer = frames.id.withBytes({ Peer(routingID: $0) }) else {
        _ = try socket.dropRest(&frames.body)
        core.dropped(sample: "a peer set a routing id of its own")
        continue
      }
      guard !frames.body.hasMore else {
        let more = try socket.dropRest(&frames.body)
        core.dropped(sample: "a message of \((1 + more).counted("frame")); one is expected")
        continue
      }
      bytes += frames.body.byteCount
      let sender = access.flatMap { $0.sender(of: frames.body) }
      frames.body.withBytes { core.receive($0, from: peer, by: sender, at: now) }
    }
    return true
  }

  private mutating func takeEvents(at now: Int64) {
    parts.events.wake.clear()
    for event in parts.events.takeAll() {
      switch event {
      case .written(let result): take(result)
      case .read(let result):
        parts.reader.answered()
        take(result, at: now)
      case .cursors(let changes, let failure): core.stored(changes, failure: failure)
      case .plain(let batch): core.takePlain(batch, at: now)
      case .plainRefused(let counts): core.plainRefused(counts)
      case .accessChanged: takeAccess()
      case .threadFailed(let thread, let text): failure = "\(thread): \(text)"
      case .stop:
        core.drain()
        drainDeadline = drainDeadline ?? SystemClock.monotonic() + Self.drainNanoseconds
      }
    }
  }

  private mutating func takeAccess() {
    guard access?.refresh() ?? false, let table = access?.table else { return }
    core.setAccess(table)
  }

  private mutating func take(_ result: WriteResult) {
    switch result.failure {
    case nil: core.written(result.groups)
    case let error? where error.isRetriable:
      core.written(result.groups, failure: "\(error)")
    case let error?:
      // What the disk holds after a failed sync nobody knows: end, and let recovery decide.
      failure = "\(error)"
    }
  }

  private mutating func take(_ result: ReadResult, at now: Int64) {
    switch result {
    case .delivered(let delivery): core.readDone(delivery)
    case .fetched(let peer, let message, let unreadable):
      if let unreadable { core.leftOut(unreadable) }
      core.actions.append(.send(peer, message))
    case .open(let open, let peer, let holder, let offset):
      core.finishOpen(
        open, from: peer, by: holder, at: now, timeOffset: min(offset, core.journal.durableHead))
      // Rights may have changed while it was looked up.
      if let table = access?.table { core.setAccess(table) }
    case .seek(let admin, let peer, let offset):
      core.seek(admin, to: core.place(min(offset, core.journal.durableHead)), peer)
    case .deleted(let segments, let earliest): core.deleted(segments: segments, earliest: earliest)
    case .failed(let text): core.readFailed(text)
    }
  }

  private mutating func tickIfDue(at now: Int64) {
    guard SystemClock.monotonic() >= nextTick else { return }
    nextTick = SystemClock.monotonic() + Self.tickNanoseconds
    core.liveIsBehind = parts.live.isBehind
    core.tick(at: now)
    let head = core.journal.durableHead
    core.retain(
      parts.journal.segments(head: head, lastTime: core.journal.lastTime), at: now)
    core.elsewhere = CountsElsewhere(
      liveDropEpisodes: parts.live.dropEpisodes,
      liveRefusedSubscriptions: parts.live.refusedSubscriptions,
      denied: access?.control.counts ?? [:], handshakes: parts.handshakes.all)
    let status = core.status(at: now)
    let found = watch.look(
      refused: status.liveRefusedSubscriptions, files: FileReserve.used, at: now)
    for finding in found { report(finding) }
    shared.status.withLock { $0 = status }
  }

  private mutating func perform() throws {
    core.liveIsBehind = parts.live.isBehind
    for action in core.takeActions() {
      switch action {
      case .send(let peer, let message): try send(message, to: peer)
      case .write(let groups): parts.writer.post(groups)
      case .live(let group): parts.live.post(group)
      case .read(let request): read(request)
      case .storeCursors(let changes): parts.cursors.post(changes)
      case .report(let finding): report(finding)
      }
    }
  }

  private mutating func read(_ request: ReadRequest) {
    if case .fetch(let fetch) = request,
      parts.reader.outstanding >= ReaderThread<DirectoryStorage>.maximumFetches
    {
      core.refuse(
        .overload, "too many reads are waiting", token: fetch.request, peer: fetch.peer)
    } else {
      parts.reader.post(request)
    }
  }

  private mutating func send(_ message: [UInt8], to peer: Peer) throws {
    do throws(TransportError) {
      let id = peer.routingID
      guard try unsafe socket.trySend(id.span.bytes, more: true) else {
        return core.peerLost(peer, isFull: true)
      }
      // Only the first frame can be refused. Copying a small message is cheaper than owning it.
      _ =
        message.count > 4096
        ? try socket.trySend(Message(owning: message)) : try socket.trySend(message)
    } catch {
      guard error.kind == .unreachable else { throw error }
      core.peerLost(peer, isFull: false)
    }
  }

  /// Ends the loop once everything taken is on disk, or when that takes too long.
  private mutating func endIfDrained() throws -> Bool {
    guard let drainDeadline else { return false }
    if core.isDrained {
      core.writeCursors(retrying: true)
      core.sayGoodbye()
      try perform()
      parts.writer.post([core.journal.takeClosingGroup(time: SystemClock.realtime())])
      return true
    }
    guard SystemClock.monotonic() > drainDeadline else { return false }
    report(
      OperatorReport(
        .error, "drain", "stopped before \(core.bytesInFlight) bytes were written"
      ))
    return true
  }

  /// Each thread finishes what it was given before it ends.
  private func stopThreads() {
    parts.plain.stop()
    parts.writer.stop()
    parts.reader.stop()
    parts.live.stop()
    parts.cursors.stop()
    // Last: the sockets that it vouches for are closed, but the bus's own, which takes nothing more.
    parts.access?.stop()
  }
}

struct BrokerFailure: Error, CustomStringConvertible {
  var text: String
  var description: String { text }
}

extension Peer {
  /// libzmq's own ids: a zero byte and 32 bits. Nil for an id that the peer chose.
  init?(routingID: RawSpan) {
    guard routingID.byteCount == 5, routingID.bigEndian(at: 0, as: UInt8.self) == 0 else {
      return nil
    }
    id = routingID.bigEndian(at: 1)
  }

  var routingID: [5 of UInt8] {
    [
      0, UInt8(truncatingIfNeeded: id >> 24), UInt8(truncatingIfNeeded: id >> 16),
      UInt8(truncatingIfNeeded: id >> 8), UInt8(truncatingIfNeeded: id),
    ]
  }
}
