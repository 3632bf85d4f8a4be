internal import BusProtocol
internal import BusTransport
internal import EventCodec
internal import Primitives
internal import Synchronization

/// The thread that takes events from plain PUB and PUSH sockets, of any program in any language.
///
/// It decodes and completes them (that is too slow for the bus thread) and passes batches on. While the
/// broker has too much on its way to the disk, or the disk is full, it reads nothing: a PUSH then waits,
/// and a PUB drops at its own mark, which only the sender can see.
final class PlainThread: Sendable {
  private let shared: Shared
  private let wake: WakeSignal
  private let thread: OwnedThread
  let publishAddress: String
  let pushAddress: String

  final class Shared: Sendable {
    let isPaused = Atomic<Bool>(false)
    let isStopped = Atomic<Bool>(false)
  }

  init(
    context: ZeroMQContext, publishAddress: String, pushAddress: String, access: AccessThread?,
    handshakes: HandshakeCounts, limits: BusLimits, results: Mailbox<BrokerEvent>
  ) throws {
    let shared = Shared()
    let wake = try WakeSignal()
    let gate = try StartGate()
    self.shared = shared
    self.wake = wake
    thread = try OwnedThread(name: "eb-plain") {
      let failure = gate.run { opened in
        var options = SocketOptions()
        options.maximumMessageBytes = Int64(limits.messageBytes)
        options.heartbeatMilliseconds = 0
        options.curve = access.map { $0.role(.publish) }
        options.reportsFailures = true
        let sub = try Socket(context, .sub, options)
        try sub.subscribe([])
        try sub.bind(publishAddress)
        options.curve = access.map { $0.role(.push) }
        let pull = try Socket(context, .pull, options)
        try pull.bind(pushAddress)
        opened(try sub.lastEndpoint() + " " + pull.lastEndpoint())
        var loop = PlainLoop(
          sub: sub, pull: pull, access: access.map { AccessView($0.control) }, wake: wake,
          handshakes: handshakes, limits: limits, results: results, shared: shared)
        try loop.run()
      }
      if let failure { results.post(.threadFailed("plain sockets", "\(failure)")) }
    }
    let addresses = try gate.wait().split(separator: " ").map(String.init)
    self.publishAddress = addresses[0]
    self.pushAddress = addresses[1]
  }

  func pause(_ isPaused: Bool) {
    let was = shared.isPaused.exchange(isPaused, ordering: .relaxed)
    if was != isPaused { wake.signal() }
  }

  deinit { stop() }

  func stop() {
    shared.isStopped.store(true, ordering: .relaxed)
    wake.signal()
    thread.join()
  }
}

/// The frames under way, apart from the loop so that they can be read while it changes.
private final class Frames {
  var name = Message()
  var payload = Message()
}

private struct PlainLoop: ~Copyable {
  /// Messages taken from one socket before the other has its turn.
  private static let turn = 1000

  private let sub: Socket
  private let pull: Socket
  /// Nil when nobody is asked for a key.
  private var access: AccessView?
  private let wake: WakeSignal
  private let handshakes: HandshakeCounts
  private let limits: BusLimits
  private let results: Mailbox<BrokerEvent>
  private let shared: PlainThread.Shared
  private var poll = PollSet()
  private let subItem, pullItem, wakeItem, subFailures, pullFailures: Int
  private let frames = Frames()
  private var reader: PlainEventReader
  private var builder = BatchBuilder()
  private var refusals: [RefusalCounts.Key: RefusalCounts.Entry] = [:]

  init(
    sub: consuming Socket, pull: consuming Socket, access: AccessView?, wake: WakeSignal,
    handshakes: HandshakeCounts, limits: BusLimits, results: Mailbox<BrokerEvent>,
    shared: PlainThread.Shared
  ) {
    subItem = poll.add(sub)
    pullItem = poll.add(pull)
    wakeItem = poll.add(descriptor: wake.descriptor)
    subFailures = poll.addConnectionEvents(of: sub)
    pullFailures = poll.addConnectionEvents(of: pull)
    self.handshakes = handshakes
    self.sub = sub
    self.pull = pull
    self.access = access
    self.wake = wake
    self.limits = limits
    self.results = results
    self.shared = shared
    reader = PlainEventReader(
      limits: CodecLimits(eventBytes: limits.eventBytes, depth: limits.depth))
  }

  mutating func run() throws {
    while !shared.isStopped.load(ordering: .relaxed) {
      let isPaused = shared.isPaused.load(ordering: .relaxed)
      poll.watch(subItem, !isPaused)
      poll.watch(pullItem, !isPaused)
      try poll.wait(milliseconds: -1)
      if poll.isReadable(wakeItem) { wake.clear() }
      if poll.isReadable(subFailures) {
        try handshakes.read(sub, .publish, using: &frames.name)
      }
      if poll.isReadable(pullFailures) { try handshakes.read(pull, .push, using: &frames.name) }
      if isPaused { continue }
      if poll.isReadable(subItem) { try drain(.publish) }
      if poll.isReadable(pullItem) { try drain(.push) }
    }
  }

  private mutating func drain(_ port: RefusalCounts.Port) throws {
    _ = access?.refresh()
    for _ in 0..<Self.turn {
      let some =
        port == .publish
        ? try sub.tryReceive(into: &frames.name) : try pull.tryReceive(into: &frames.name)
      guard some else { break }
      try takeOne(port)
      if builder.eventCount == limits.batchEvents || builder.byteCount >= limits.batchBytes {
        post(port)
      }
    }
    post(port)
    if !refusals.isEmpty {
      results.post(.plainRefused(refusals))
      refusals.removeAll(keepingCapacity: true)
    }
  }

  private mutating func takeOne(_ port: RefusalCounts.Port) throws {
    guard frames.name.hasMore else {
      return refuse(port, .badFrame, "a message of one frame; [name][payload] is expected")
    }
    _ =
      port == .publish
      ? try sub.tryReceive(into: &frames.payload) : try pull.tryReceive(into: &frames.payload)
    if frames.payload.hasMore {
      let more =
        port == .publish
        ? try sub.dropRest(&frames.payload) : try pull.dropRest(&frames.payload)
      return refuse(
        port, .badFrame, "a message of \((2 + more).counted("frame")); [name][payload] is expected")
    }
    var forbidden: [UInt8]?
    do throws(CodecError) {
      try frames.name.withBytes { name throws(CodecError) in
        try frames.payload.withBytes { payload throws(CodecError) in
          let topic = try reader.read(
            name: name, payload: payload, received: SystemClock.realtime(),
            into: &builder.payloads)
          if let access, !access.allows(publishing: topic, frames.payload) {
            forbidden = topic
          } else {
            builder.append(name: topic)
          }
        }
      }
    } catch {
      builder.abandon()
      return refuse(port, error.reason.code, error.description)
    }
    if let forbidden {
      builder.abandon()
      let sender = access?.sender(of: frames.payload)?.name ?? "that is not authorised"
      let name = String(decoding: forbidden, as: UTF8.self)
      refuse(port, .forbidden, "key \(sender) may not publish '\(name)'")
    }
  }

  private mutating func refuse(_ port: RefusalCounts.Port, _ code: RefusalCode, _ sample: String) {
    var entry = refusals[.init(port: port, code: code)] ?? .init()
    entry.count += 1
    entry.sample = sample
    refusals[.init(port: port, code: code)] = entry
  }

  private mutating func post(_ port: RefusalCounts.Port) {
    guard !builder.isEmpty else { return }
    let count = builder.eventCount
    var bytes: [UInt8] = []
    builder.build(into: &bytes)
    results.post(.plain(PlainBatch(bytes: bytes, eventCount: count, port: port)))
  }
}
