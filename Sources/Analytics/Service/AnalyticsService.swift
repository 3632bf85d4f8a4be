internal import Database
internal import Primitives
internal import Synchronization

/// The only thing of analytics that an app knows: it takes events, completes them, and hands them to
/// providers, which are hidden behind it.
///
/// ```swift
/// let analytics = try AnalyticsService(
///   AnalyticsServiceConfiguration(storePath: folder + "/analytics.sqlite"),
///   providers: [try AnalyticsClient(clientConfiguration)])
/// analytics.applicationLaunched(version: "1.2", build: "34")
/// analytics.track(EventType.GameStarted(opponentType: .human))
/// ```
/// Every call that tells it something is `nonisolated`, takes a lock for some nanoseconds and returns; the
/// calls are worked on in their order by a thread of the service's own. Who an event is about is what was
/// told before it: an `identify` behind it changes nothing.
public actor AnalyticsService: AnalyticsEventSending {
  let inbox: Inbox<ServiceCall>
  private nonisolated let thread: ThreadExecutor
  private nonisolated let configuration: AnalyticsServiceConfiguration
  let providers: [any AnalyticsProvider]
  let plugins: PluginChain
  /// Set at once where `optOut` is called, so that nothing is taken from then on.
  nonisolated let isSilent: Atomic<Bool>
  nonisolated let unheard: Atomic<Int>

  var core: AnalyticsServiceCore
  var counts = AnalyticsServiceMetrics()
  private let storeHolder: StoreHolder
  private nonisolated let optOutMark: OptOutMark
  /// When the store is tried again; nil while it has all that it should.
  private var nextStoreTry: Int64?
  private var isStarted = false
  private var backlog: ArraySlice<ServiceCall> = []
  /// Runs while providers erase; later calls wait for it.
  private var erasing: Task<Void, Never>?

  /// Starts a thread; opens the store later, on it.
  ///
  /// - Parameters:
  ///   - providers: each gets every event. None is fine: then nothing leaves.
  ///   - plugins: in the order in which they run.
  /// - Throws: ``AnalyticsError/system(_:)`` when there is no thread.
  public init(
    _ configuration: AnalyticsServiceConfiguration = .init(),
    providers: [any AnalyticsProvider], plugins: [any AnalyticsPlugin] = []
  ) throws(AnalyticsError) {
    do throws(SystemError) {
      thread = try ThreadExecutor(name: "analytics")
    } catch {
      throw .system(error.description)
    }
    self.configuration = configuration
    self.providers = providers
    self.plugins = PluginChain(plugins)
    optOutMark = OptOutMark(storePath: configuration.storePath)
    isSilent = Atomic(optOutMark.isSet)
    unheard = Atomic(0)
    inbox = Inbox(limit: max(1, configuration.maximumEvents))
    core = AnalyticsServiceCore(
      configuration, seed: configuration.seed ?? .random(in: .min ... .max),
      settings: AnalyticsSettings(), wantsEnvelopes: !plugins.isEmpty)
    storeHolder = StoreHolder(path: configuration.storePath)
  }

  /// The service's own thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe thread.asUnownedSerialExecutor()
  }

  nonisolated func call(_ call: ServiceCall) {
    guard inbox.add(call) else { return }
    thread.call(after: configuration.linger) { self.assumeIsolated { $0.drain() } }
  }

  /// Works on all calls so far, unless providers are erasing: then these come first.
  func drain() {
    start()
    let before = core.settings
    while erasing == nil, let call = nextCall() {
      // The person opted out while it waited: it is not even stamped.
      if call.isEvent, isSilent.load(ordering: .relaxed) {
        counts.tracked += 1
        counts.optedOut += 1
      } else {
        work(on: call)
      }
    }
    // Only where it was made in this process: another one may have made another choice.
    if core.settings.choice != before.choice { keepChoice() }
    let isOwed = nextStoreTry.map { SystemClock.monotonic() >= $0 } ?? false
    if core.settings != before || isOwed { keepSettings() }
  }

  private func keepChoice() {
    do throws(PrivateFile.Failure) {
      try optOutMark.set(core.isOptedOut)
    } catch {
      countStoreFailure(error.description)
    }
  }

  private func keepSettings() {
    do throws(DatabaseError) {
      if let late = try storeHolder.openLate() {
        core.restoreLate(AnalyticsSettings(late.settings))
      }
      try storeHolder.replaceSettings(core.settings.rows)
      nextStoreTry = nil
    } catch {
      countStoreFailure(error.description)
      nextStoreTry = SystemClock.monotonic() + StoreLedger.pause
    }
  }

  private func countStoreFailure(_ text: String) {
    counts.storeFailures += 1
    counts.lastStoreFailure = text
  }

  private func nextCall() -> ServiceCall? {
    if backlog.isEmpty {
      let (items, overflow) = inbox.take()
      counts.tracked += overflow
      counts.shed += overflow
      backlog = items[...]
    }
    return backlog.popFirst()
  }

  private func start() {
    guard !isStarted else { return }
    isStarted = true
    let opened = storeHolder.open()
    if let failure = opened.failure {
      countStoreFailure(failure)
      nextStoreTry = SystemClock.monotonic() + StoreLedger.pause
    }
    if opened.isReplaced { counts.storesMovedAside += 1 }
    var settings = AnalyticsSettings(storeHolder.settings)
    if optOutMark.isSet { settings.choice = .optedOut }
    core.restore(settings, isUnknown: opened.isUnknown)
    // The process may have ended between the choice and the erasing.
    if settings.choice == .optedOut { erase() }
  }

  private func work(on call: ServiceCall) {
    for outcome in core.take(call) {
      switch outcome {
      case .event(let event): deliver(event)
      case .envelope(let envelope, let enrich): process(envelope, enrich)
      case .refused(let reason): refuse(reason)
      case .optedOut:
        counts.tracked += 1
        counts.optedOut += 1
      case .erase: erase()
      case .flush: Task { await self.flushProviders() }
      }
    }
  }

  private func erase() {
    erasing = Task {
      for provider in self.providers { await provider.erase() }
      self.erasing = nil
      self.drain()
    }
  }

  /// Waits until all that was told so far is worked on.
  func settle() async {
    drain()
    while let erasing { await erasing.value }
  }

  /// Works on all that was told so far, hands it to the providers, and gives the file free: for programs
  /// that end, and for tests that launch again. What is tracked later is counted as shed. The providers
  /// are the caller's to close.
  public func close() async {
    await settle()
    inbox.close()
    storeHolder.close()
    nextStoreTry = nil
  }

  func flushProviders() async -> AnalyticsFlushResult {
    var result = AnalyticsFlushResult(waiting: 0)
    for provider in providers {
      let own = await provider.flush()
      result.waiting += own.waiting
      if result.failure == nil { result.failure = own.failure.map { "\(provider.name): \($0)" } }
    }
    return result
  }
}
