internal import BusClient
internal import BusProtocol
internal import Database
internal import HTTPClient
internal import Primitives
internal import SinkState

/// The thread that owns the core, the state file and the HTTP client of one publisher.
struct DeliveryLoop<Adapter: DestinationAdapter>: ~Copyable {
  let configuration: DeliveryProcessConfiguration
  let shared: DeliveryShared
  let subscriber: Subscriber
  let feed: EventFeed
  var adapter: Adapter
  /// For dead letters, which this thread prepares itself; nil until the destination is opened.
  var preparer: EventPreparer<Adapter>?
  var feeder: OwnedThread?
  var store: DeliveryStore
  var core: DeliveryCore
  var client: HTTPClient
  var calls = DeliveryCalls()
  var saving = DeliverySaving()
  var publishing = StatusPublishing()

  /// Runs until it is stopped or cannot go on.
  static func run(
    _ adapter: Adapter, _ configuration: DeliveryProcessConfiguration, _ shared: DeliveryShared
  ) {
    do throws(DeliveryFailure) {
      let folder = DestinationFolder(data: configuration.data, name: configuration.name)
      do throws(SystemError) { try folder.create() } catch { throw .store(.folder(error)) }
      let lock = try lock(folder)
      var store = try openStore(folder, adapter.route, configuration)
      for notice in store.takeNotices() {
        shared.report(.init(.error, "state_damaged", notice))
      }
      shared.start()
      try run(adapter, configuration, shared, store)
      _ = lock
    } catch {
      shared.fail(error)
    }
  }

  private static func run(
    _ adapter: Adapter, _ configuration: DeliveryProcessConfiguration, _ shared: DeliveryShared,
    _ store: consuming DeliveryStore
  ) throws(DeliveryFailure) {
    let stored: SinkProgress?
    do throws(DatabaseError) { stored = try store.progress() } catch {
      throw .store(.database(error))
    }
    do throws(BusClientError) {
      let subscriber = try Subscriber(subscription(adapter, configuration, shared, stored))
      defer { subscriber.closeBlocking() }
      var opened: OpenedMessage?
      while opened == nil, !shared.isStopping {
        _ = try subscriber.waitUntilOpened(deadline: .milliseconds(200))
        opened = subscriber.status.opened
        shared.status.link = subscriber.status.link
      }
      guard let opened else { return }
      shared.open()
      let progress =
        stored ?? SinkProgress(start: opened.cursor, seekGeneration: opened.seekGeneration)
      var loop = try DeliveryLoop(adapter, configuration, shared, store, subscriber, progress)
      loop.run()
    } catch { throw .bus(error) }
  }

  private init(
    _ adapter: Adapter, _ configuration: DeliveryProcessConfiguration, _ shared: DeliveryShared,
    _ store: consuming DeliveryStore, _ subscriber: Subscriber, _ progress: SinkProgress
  ) throws(BusClientError) {
    var random = SystemRandomNumberGenerator()
    var probe = adapter
    let core = DeliveryCore(
      configuration.delivery, limits: adapter.limits, progress: progress,
      peopleKey: store.peopleKey, needsOpening: probe.opening(at: Timestamp.now()) != nil,
      seed: random.next())
    let client: HTTPClient
    do throws(HTTPFailure) { client = try HTTPClient(configuration.http) } catch {
      throw .system(text: "\(error)")
    }
    let feed: EventFeed
    do throws(SystemError) { feed = try EventFeed(news: shared.news) } catch {
      throw .system(text: "\(error)")
    }
    self.configuration = configuration
    self.shared = shared
    self.subscriber = subscriber
    self.feed = feed
    self.adapter = adapter
    self.store = store
    self.core = core
    self.client = client
  }

  private mutating func run() {
    publishing.progress = core.progress
    var deadline = Int64.max
    while true {
      let now = SystemClock.monotonic()
      if shared.isStopping, deadline == .max {
        core.stop()
        feed.stop()
        deadline = now + configuration.grace.nanoseconds
      }
      if deadline == .max { takeEvents(at: now) }
      if !saving.isFailing { perform(core.advance(at: now)) }
      save(at: now, isEnding: false)
      publishStatus(at: now)
      if deadline < .max, core.requestCount == 0 || now >= deadline { break }
      if let failure = feed.failure, deadline == .max { shared.fail(.bus(failure)) }
      let wait = min(nextDue(at: now), deadline) - now
      for completion in client.wait(.nanoseconds(max(0, wait) + 999_999), wakes: [shared.news]) {
        finish(completion, at: SystemClock.monotonic())
      }
      shared.news.clear()
    }
    end()
  }

  /// What was settled is stored; what was not is sent again after the next start.
  private mutating func end() {
    feed.stop()
    let now = SystemClock.monotonic()
    save(at: now, isEnding: true)
    publishing.nextStore = 0
    publishStatus(at: now)
    subscriber.close()
    feeder?.join()
  }

  private func nextDue(at now: Int64) -> Int64 {
    // Dead letters that a person wants sent again, and the status, are looked at each second.
    var due = min(now + 1_000_000_000, saving.isFailing ? .max : core.nextDue)
    if core.hasSettled || saving.pending != nil { due = min(due, saving.next) }
    return due
  }
}
