internal import Primitives

/// Sends events to a collector over HTTP: in order, at least once, through flight mode and kills.
///
/// ```swift
/// let client = try AnalyticsClient(
///   AnalyticsClientConfiguration(
///     endpoint: "https://events.example.com/v1/events", writeKey: key, storePath: path))
/// client.track(EventType.GameStarted(opponentType: .human))
/// ```
/// `track` takes a lock for some nanoseconds and returns; encoding, the store and requests are the matter
/// of a thread of the client's own. One request is under way at a time; a batch that failed, for
/// whatever reason, stays at the front of the queue and is sent again under the same ids. What waits is on
/// disk within 100 ms of `track` and survives a kill; the next launch sends it before anything new.
///
/// Use one client a program, alone or as a provider of an ``AnalyticsService``.
public actor AnalyticsClient: AnalyticsEventSending {
  /// What callers hand over.
  enum Item: Sendable {
    case event(any PublishableEvent, Timestamp)
    case stamped(StampedEvent)
    case change(@Sendable (inout EventStamper) -> Void)
  }

  /// As it was made.
  public nonisolated let configuration: AnalyticsClientConfiguration
  nonisolated let inbox: Inbox<Item>
  private nonisolated let thread: ThreadExecutor
  let transport: any AnalyticsTransport
  let elapsed: @Sendable () -> Duration

  var core: AnalyticsClientCore
  var stamper: EventStamper
  var random: SeededRandom
  let storeHolder: StoreHolder
  var sending: Task<Void, Never>?
  private var timer: Task<Void, Never>?
  private var timerTime: Int64?
  private var flushes: [Int: CheckedContinuation<AnalyticsFlushResult, Never>] = [:]
  private var lastFlush = 0
  /// For encoding; used again.
  var scratch: [UInt8] = []
  var isStarted = false
  var isClosed = false

  /// Starts a thread; opens the store later, on it.
  ///
  /// - Parameter transport: nil for the system's own.
  /// - Throws: ``AnalyticsError`` for an address that cannot be used, or when there is no thread.
  public init(
    _ configuration: AnalyticsClientConfiguration, transport: (any AnalyticsTransport)? = nil
  ) throws(AnalyticsError) {
    try AnalyticsEndpoint.check(configuration.endpoint)
    if let transport {
      self.transport = transport
    } else {
      self.transport = try SystemTransport.make(timeout: configuration.requestTimeout)
    }
    do throws(SystemError) {
      thread = try ThreadExecutor(name: "analytics")
    } catch {
      throw .system(error.description)
    }
    let seed = configuration.seed ?? .random(in: .min ... .max)
    self.configuration = configuration
    inbox = Inbox(limit: max(1, configuration.maximumEvents))
    elapsed = Self.readings(of: configuration.clock)
    core = AnalyticsClientCore(
      configuration, firstID: Timestamp.now().nanoseconds / 1_000_000 << 10)
    stamper = EventStamper(seed: seed)
    stamper.context = ["library": ["name": "eventbus"]]
    random = SeededRandom(seed: seed)
    storeHolder = StoreHolder(path: configuration.storePath)
    // Reads what an earlier launch left, and sends it.
    thread.call(after: .zero) { self.assumeIsolated { $0.drain() } }
  }

  deinit {
    timer?.cancel()
  }

  /// The client's own thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe thread.asUnownedSerialExecutor()
  }

  private static func readings<C: Clock>(
    of clock: C
  ) -> @Sendable () -> Duration where C.Duration == Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
  }

  /// Monotonic nanoseconds of the configured clock.
  var now: Int64 { elapsed().nanoseconds }
}

// From any thread.
extension AnalyticsClient {
  /// Takes the event, with the time of the call unless it has its own. About 0.1 µs; the first
  /// after a pause takes 5 to 15 µs, since caches are cold, and arms a timer besides, one system call.
  public nonisolated func send(_ event: any PublishableEvent) {
    if inbox.add(.event(event, event.eventTimestamp ?? .now())) { wake() }
  }

  /// The same, by the name that trackers use.
  public nonisolated func track(_ event: any PublishableEvent) { send(event) }

  /// Who events tracked from now on are about; nil while nobody is known. Every event has besides an
  /// anonymous id, which is made once and kept in the store.
  public nonisolated func setUserId(_ id: String?) { change { $0.identity.userId = id } }

  /// The session of events tracked from now on: `sessionId` of their context.
  public nonisolated func setSessionId(_ id: String?) { change { $0.sessionId = id } }

  /// Properties of all events tracked from now on; an event's own value of a key wins.
  public nonisolated func setCommonProperties(_ properties: PropertyObject) {
    change { $0.common = properties }
  }

  /// An anonymous id of the app's own in place of the kept one.
  public nonisolated func setAnonymousId(_ id: String) { change { $0.identity.anonymousId = id } }

  private nonisolated func change(_ change: @escaping @Sendable (inout EventStamper) -> Void) {
    if inbox.add(.change(change)) { wake() }
  }

  /// Lets events gather for a moment: one encoding, one transaction, one request for many.
  nonisolated func wake() {
    thread.call(after: configuration.linger) { self.assumeIsolated { $0.drain() } }
  }
}

extension AnalyticsClient {
  /// Sends what waits, and returns when the server has it, or an attempt has failed: the events then wait
  /// for the next one. A pause that the server asked for is kept; one of the client's own is cut short.
  @discardableResult
  public func flush() async -> AnalyticsFlushResult {
    drain()
    guard !isClosed else { return closedResult }
    lastFlush += 1
    let id = lastFlush
    return await withCheckedContinuation { continuation in
      flushes[id] = continuation
      core.flush(id)
      act()
    }
  }

  /// Counts up to now.
  public var metrics: AnalyticsClientMetrics {
    drain()
    return core.status
  }

  /// Writes what waits to the store and ends: nothing is sent any more, and what is tracked later is
  /// counted as shed. The file is free afterwards.
  public func close() {
    drain()
    inbox.close()
    isClosed = true
    timer?.cancel()
    sending?.cancel()
    storeHolder.close()
    for flush in flushes.values { flush.resume(returning: closedResult) }
    flushes = [:]
  }

  private var closedResult: AnalyticsFlushResult {
    let waiting = core.status.waiting
    return AnalyticsFlushResult(
      waiting: waiting, failure: waiting == 0 ? nil : "the client was closed")
  }

  private func drain() {
    guard !isClosed else { return }
    startIfNeeded()
    takeInbox()
    act()
  }

  /// Does what the core decides, and sets the timer for when it wants to decide again.
  func act() {
    guard !isClosed else { return }
    for action in core.actions(at: now) {
      switch action {
      case .store(let save, let delete): store(save, delete)
      case .send(let events, let attempt):
        sending = Task { await self.send(events, attempt) }
      case .answer(let flush, let result):
        flushes.removeValue(forKey: flush)?.resume(returning: result)
      }
    }
    schedule()
  }

  private func schedule() {
    guard core.nextTime != timerTime else { return }
    timer?.cancel()
    timerTime = core.nextTime
    guard let time = timerTime else { return }
    let wait = Duration.nanoseconds(max(0, time - now))
    timer = Task { [weak self, clock = configuration.clock] in
      do { try await clock.sleep(for: wait) } catch { return }
      await self?.timerFired()
    }
  }

  private func timerFired() {
    timerTime = nil
    drain()
  }
}
