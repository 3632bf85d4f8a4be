internal import BusClient
internal import BusProtocol
internal import Database
internal import Primitives
internal import SinkState
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The aggregator's thread: owns the core and the file, takes batches, and commits.
struct AggregatorWorker: ~Copyable {
  let shared: AggregatorShared
  let store: AggregatorStore
  private let lock: DirectoryLock
  var file: WatchedFile?
  var core: AggregatorCore?
  var definitions: [ReportDefinition]
  var fill: ReportFill?
  /// How long the last batch of the past took, and what came live since; nanoseconds.
  var (fillTurn, liveTurn): (Int64, Int64) = (0, 0)
  private var lastCommit: Int64 = 0
  private var lastCommitTime: Int64 = 0
  private var lastLook: Int64 = 0
  private var lastTold: Int64 = 0
  private var batches = 0

  /// Runs until it is told to stop, or fails; calls `opened` once nothing can be wrong with the directory
  /// and the report file any more.
  static func run(_ shared: AggregatorShared, opened: () -> Void) {
    do throws(AggregatorError) {
      var worker = try AggregatorWorker(shared)
      opened()
      try worker.run()
    } catch {
      shared.state.withLock { state in
        state.failure = error
        state.status.isReady = false
      }
    }
  }

  private init(_ shared: AggregatorShared) throws(AggregatorError) {
    let configuration = shared.configuration
    var file = configuration.reports.map { WatchedFile($0) }
    let definitions = try Self.definitions(&file)
    let lock = try DirectoryLock(configuration.directory)
    let store = try AggregatorStore(shared.file)
    let core = try store.load(configuration.horizon)
    self.shared = shared
    self.file = file
    self.definitions = definitions
    // Who asks before the bus was reached is told to ask again soon, not that there is no such report.
    shared.state.withLock { $0.definitions = definitions }
    self.lock = lock
    self.store = store
    self.core = core
  }

  static func definitions(
    _ file: inout WatchedFile?
  ) throws(AggregatorError) -> [ReportDefinition] {
    guard let path = file?.path else { return ReportDefinition.defaults }
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try file?.readIfChanged() ?? []
    } catch { throw .system(text: error.description) }
    do throws(ReportFileError) {
      return try ReportFile.parse(bytes, path: path)
    } catch { throw .reportFile(error) }
  }

  private mutating func run() throws(AggregatorError) {
    let subscriber: Subscriber
    do throws(BusClientError) {
      subscriber = try Subscriber(configuration())
    } catch { throw .bus(error) }
    defer { subscriber.closeBlocking() }
    guard try waitUntilOpened(subscriber) else { return }
    try take(definitions)
    shared.state.withLock { $0.status.isReady = true }
    while !shared.isStopping {
      try step(subscriber)
    }
    try commitAll(subscriber)
  }

  private func configuration() -> SubscriberConfiguration {
    let own = shared.configuration
    var configuration = SubscriberConfiguration(
      address: own.bus, client: "eventbus aggregator", name: own.name)
    configuration.filters = SinkFilters.obeyingForget(own.filters)
    configuration.reset = true
    configuration.start = own.start
    if let progress = core?.progress {
      configuration.start = .position(progress.cursor)
      configuration.seekGeneration = progress.seekGeneration
    }
    let shared = shared
    configuration.onNotice = { notice in
      if case .gap(let gap) = notice { shared.say(.error, "bus.gap", gap.description) }
    }
    configuration.onReport = shared.report
    return configuration
  }

  /// False when it is to stop first.
  private mutating func waitUntilOpened(
    _ subscriber: Subscriber
  ) throws(AggregatorError) -> Bool {
    do throws(BusClientError) {
      while !(try subscriber.waitUntilOpened(deadline: .milliseconds(100))) {
        if shared.isStopping { return false }
        let link = subscriber.status.link
        shared.state.withLock { $0.status.link = link }
      }
    } catch { throw .bus(error) }
    if core == nil, let opened = subscriber.status.opened {
      let progress = SinkProgress(start: opened.cursor, seekGeneration: opened.seekGeneration)
      core = AggregatorCore(
        progress: progress,
        doubles: Doubles(key: store.key, horizon: shared.configuration.horizon),
        forgotten: ForgottenPeople(key: store.key))
    }
    return true
  }

  /// One batch, or what else is due.
  private mutating func step(_ subscriber: Subscriber) throws(AggregatorError) {
    let batch: EventBatch?
    do throws(BusClientError) {
      batch = try subscriber.nextBatch(deadline: fill == nil ? .milliseconds(50) : .zero)
    } catch { throw .bus(error) }
    let begun = SystemClock.monotonic()
    if let batch { try core?.apply(batch, from: store) }
    if fill != nil {
      let liveTime = SystemClock.monotonic() - begun
      try fillOn(subscriber, after: liveTime, isIdle: batch == nil)
    }
    batches &+= 1
    let now = SystemClock.monotonic()
    if isDue(now, isIdle: batch == nil) { try commit(subscriber, now) }
    if now - lastTold > 250_000_000 { tellLive(now, subscriber.status) }
    if now - lastLook > 1_000_000_000 {
      lastLook = now
      try lookAtFile(subscriber)
    }
  }

  /// While there is work, storing takes a tenth of the time where that is no longer than five seconds.
  private func isDue(_ now: Int64, isIdle: Bool) -> Bool {
    guard let core, core.isChanged else { return false }
    let usual = shared.configuration.commitInterval.nanoseconds
    let interval = isIdle ? usual : max(usual, min(10 * lastCommitTime, 5_000_000_000))
    if now - lastCommit >= interval || !core.erasures.isEmpty { return true }
    // Weighing takes a while itself.
    guard batches & 63 == 0 else { return false }
    return core.memoryBytes > 2 * shared.configuration.windowBytes
  }

  mutating func commit(
    _ subscriber: Subscriber, _ now: Int64
  ) throws(AggregatorError) {
    while true {
      do throws(AggregatorError) {
        try commitOnce(subscriber, now)
        if shared.state.withLock({ !$0.status.trouble.isEmpty }) {
          shared.say(.info, "disk.room", "there is room again: counting goes on")
        }
        tell(subscriber, trouble: "")
        return
      } catch .database(let error) where error.kind == .diskFull || error.kind == .busy {
        // Nothing is acknowledged that is not stored, so waiting loses nothing.
        if shared.state.withLock({ $0.status.trouble.isEmpty }) {
          shared.say(.error, "disk.full", "\(error); counting waits until there is room")
        }
        tell(subscriber, trouble: "\(error)")
      }
      for _ in 0..<10 {
        if shared.isStopping { return }
        Self.pause(milliseconds: 100)
      }
    }
  }

  private mutating func commitOnce(
    _ subscriber: Subscriber, _ now: Int64
  ) throws(AggregatorError) {
    guard let core else { return }
    try store.commit(core)
    self.core?.markSaved(keepingBytes: shared.configuration.windowBytes)
    lastCommit = SystemClock.monotonic()
    lastCommitTime = lastCommit - now
    subscriber.commit(core.progress.cursor)
  }

  private mutating func commitAll(_ subscriber: Subscriber) throws(AggregatorError) {
    guard core?.isChanged == true else { return }
    try commitOnce(subscriber, SystemClock.monotonic())
    guard let cursor = core?.progress.cursor else { return }
    do throws(BusClientError) {
      // The bus's copy only lets it delete what was read; without it nothing is lost.
      _ = try subscriber.waitForCommit(cursor, deadline: .seconds(1))
    } catch {
      shared.say(.info, "bus.commit", "the bus did not take the last cursor: \(error)")
    }
  }

  /// Rates show at once what is counted, before it is stored.
  private mutating func tellLive(_ now: Int64, _ bus: SubscriberStatus) {
    lastTold = now
    guard let core else { return }
    shared.live.withLock { $0 = core.live }
    // Also while nothing comes and so nothing is stored.
    shared.state.withLock { state in
      let cursor = state.status.progress?.cursor.offset ?? 0
      state.status.isConnected = bus.isConnected
      state.status.link = bus.link
      state.status.head = max(bus.head, cursor)
      state.status.lag = state.status.head - cursor
      if let fill { state.status.filling?.offset = fill.end.offset }
    }
  }

  private static func pause(milliseconds: Int32) {
    _ = poll(nil, 0, milliseconds)
  }
}
