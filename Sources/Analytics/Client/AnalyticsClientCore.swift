internal import Primitives

/// What the client does next, in this order.
enum AnalyticsClientAction: Sendable, Hashable {
  /// Write to the store: new events, and those that went, by ranges of ids.
  case store(save: [QueuedEvent], delete: [ClosedRange<Int64>])
  /// Make one request of these events; its outcome goes to `finish` under this number.
  case send([QueuedEvent], attempt: Int)
  /// Answer the caller of a flush.
  case answer(flush: Int, AnalyticsFlushResult)
}

/// Decides what is sent when, what is kept, and what is shed. Pure: the clock's readings (monotonic
/// nanoseconds) and random numbers are passed in.
///
/// The queue holds every event that is not settled; those under way are its first `inFlight`. So a failed
/// batch is at the front already, order is kept, and one request at a time is a matter of form.
struct AnalyticsClientCore: Sendable {
  let configuration: AnalyticsClientConfiguration
  var queue = QueuedEvents()
  var inFlight = 0
  var metrics = AnalyticsClientMetrics()
  private(set) var attempt = 0

  /// Of this launch.
  private var firstID: Int64
  private var nextID: Int64
  /// Those of an earlier launch that were found late, while a request was under way.
  private var late: [QueuedEvent] = []
  /// Events up to this id are to be sent now.
  private var flushTarget: Int64
  /// Events behind it, and since when the oldest of them waits.
  private var untargeted = 0
  private var untargetedSince: Int64?
  private var waiters: [(flush: Int, target: Int64)] = []

  /// Events of one request; fewer after a refusal for size or content, growing again with success.
  var requestCap: Int
  var backoff: Backoff
  var notBefore = Int64.min
  var isServerWaiting = false
  var dropsInARow = 0

  var store = StoreLedger()

  /// - Parameter firstID: beyond every id of earlier launches, also of those whose events cannot be read
  ///   now: from the clock.
  init(_ configuration: AnalyticsClientConfiguration, firstID: Int64 = 1) {
    self.configuration = configuration
    self.firstID = firstID
    nextID = firstID
    flushTarget = firstID - 1
    requestCap = max(1, configuration.requestEvents)
    backoff = Backoff(base: configuration.retryBase, limit: configuration.retryLimit)
  }
}

// Events come in.
extension AnalyticsClientCore {
  /// Events of an earlier launch, read from the store: they go out first, and at once. Before any other.
  mutating func restore(_ events: [QueuedEvent]) {
    precondition(queue.isEmpty, "events are restored before others are taken")
    for event in events { queue.append(event) }
    metrics.restored += events.count
    if let last = events.last {
      nextID = max(nextID, last.id + 1)
      store.isSaved(upTo: last.id)
      flushTarget = last.id
    }
    shed()
  }

  /// The same from a store that could be opened only now: they go out before all that is not under way.
  mutating func restoreLate(_ events: [QueuedEvent]) {
    guard let last = events.last else { return }
    metrics.restored += events.count
    // The clock was set back since; nothing of this launch is in the store yet.
    if last.id >= firstID { renumber(by: last.id - firstID + 1) }
    late = events
    takeLate()
  }

  private mutating func renumber(by distance: Int64) {
    queue.renumber(by: distance)
    firstID += distance
    nextID += distance
    flushTarget += distance
    store.renumber(by: distance)
    for index in waiters.indices { waiters[index].target += distance }
  }

  private mutating func takeLate() {
    guard inFlight == 0, !late.isEmpty else { return }
    queue.prepend(late)
    late = []
    shed()
  }

  /// A store is there, holding what `restore` was given.
  mutating func storeOpened() { store.opened(nextID - 1) }

  mutating func append(_ body: [UInt8], at now: Int64) {
    queue.append(QueuedEvent(id: nextID, body: body))
    nextID += 1
    metrics.tracked += 1
    untargeted += 1
    if untargetedSince == nil { untargetedSince = now }
    if untargeted >= max(1, configuration.flushCount) { targetAll() }
    shed()
  }

  /// An event that could not be encoded: tracked, and never to be sent.
  mutating func refuse(_ reason: String) {
    metrics.tracked += 1
    metrics.refused += 1
    metrics.lastRefusal = reason
  }

  /// An event that found the inbox full.
  mutating func shedUnseen(_ count: Int) {
    metrics.tracked += count
    metrics.shed += count
  }

  mutating func eraseUnseen(_ count: Int) {
    metrics.tracked += count
    metrics.erased += count
  }

  mutating func countNonFinite(_ count: Int) { metrics.nonFiniteNumbers += count }

  private mutating func targetAll() {
    flushTarget = nextID - 1
    untargeted = 0
    untargetedSince = nil
  }

  private mutating func shed() {
    while queue.count > inFlight,
      queue.count > configuration.maximumEvents || queue.bytes > configuration.maximumBytes
    {
      let id = queue[inFlight].id
      queue.remove(at: inFlight)
      metrics.shed += 1
      if id > flushTarget { untargeted -= 1 }
      store.forget(id...id)
    }
  }

  /// All that waits goes, also what is under way: its outcome counts no more.
  mutating func erase() {
    metrics.erased += queue.count + late.count
    queue.removeAll()
    late = []
    inFlight = 0
    attempt += 1
    store.erased(nextID - 1)
    targetAll()
  }
}

// Time passes, answers come.
extension AnalyticsClientCore {
  /// Asks that all that waits be sent now, and for an answer when it is, or an attempt failed. A wait
  /// that the server asked for is kept; one of our own is not.
  mutating func flush(_ flush: Int) {
    targetAll()
    waiters.append((flush, flushTarget))
    if !isServerWaiting { notBefore = .min }
  }

  mutating func finish(
    _ outcome: RequestOutcome, attempt: Int, at now: Int64,
    random: inout some RandomNumberGenerator
  ) {
    guard attempt == self.attempt, inFlight > 0 else { return }
    settle(outcome, at: now, &random)
    takeLate()
  }
}

// What to do.
extension AnalyticsClientCore {
  mutating func actions(at now: Int64) -> [AnalyticsClientAction] {
    var actions: [AnalyticsClientAction] = []
    if let since = untargetedSince, now - since >= configuration.flushInterval.nanoseconds {
      targetAll()
    }
    if store.isDue(queue, at: now) {
      let (save, delete) = unsaved
      actions.append(.store(save: save, delete: delete))
    }
    if isDue, now >= notBefore {
      begin(batchCount(), at: now)
      metrics.requests += 1
      actions.append(.send(queue.prefix(inFlight), attempt: attempt))
    }
    return actions + answers(at: now)
  }

  private mutating func begin(_ count: Int, at now: Int64) {
    inFlight = count
    attempt += 1
    // A batch takes along what was not to be sent yet: it waits for nothing more.
    let last = queue[count - 1].id
    guard last > flushTarget else { return }
    flushTarget = last
    untargeted = queue.count - count
    untargetedSince = untargeted == 0 ? nil : now
  }

  /// When `actions` has something to do of itself; nil while it waits for news.
  var nextTime: Int64? {
    var times: [Int64] = []
    if let since = untargetedSince {
      times.append(since.adding(configuration.flushInterval.nanoseconds))
    }
    if isDue { times.append(notBefore) }
    if let time = store.retryTime { times.append(time) }
    return times.min()
  }

  private var isDue: Bool {
    inFlight == 0 && !queue.isEmpty && queue[0].id <= flushTarget
  }

  private func batchCount() -> Int {
    var count = 0
    var bytes = 0
    while count < min(requestCap, queue.count) {
      bytes += queue[count].body.count + RequestBody.addedBytes
      if count > 0, bytes > configuration.requestBytes { break }
      count += 1
    }
    return count
  }

  private mutating func answers(at now: Int64) -> [AnalyticsClientAction] {
    // A flush ends with the last of its events, or when no attempt is to be made now.
    let isStuck = inFlight == 0 && !queue.isEmpty && now < notBefore
    let front = queue.isEmpty ? Int64.max : queue[0].id
    let ended = waiters.filter { isStuck || front > $0.target }
    waiters.removeAll { isStuck || front > $0.target }
    return ended.map { waiter in
      let left = waiting(upTo: waiter.target)
      return .answer(
        flush: waiter.flush,
        AnalyticsFlushResult(waiting: left, failure: left == 0 ? nil : metrics.lastFailure))
    }
  }

  private func waiting(upTo id: Int64) -> Int {
    var count = 0
    while count < queue.count, queue[count].id <= id { count += 1 }
    return count
  }

  /// The counts, with what waits now.
  var status: AnalyticsClientMetrics {
    var status = metrics
    status.waiting = queue.count + late.count
    status.isStored = store.holds(queue)
    return status
  }
}

// The store.
extension AnalyticsClientCore {
  /// What the store does not know yet.
  var unsaved: (save: [QueuedEvent], delete: [ClosedRange<Int64>]) { store.unsaved(queue) }

  /// The last `.store` is on disk.
  mutating func stored() { store.stored(nextID - 1) }

  /// It is not: tried again after a pause; events go on in memory.
  mutating func storeFailed(_ reason: String, at now: Int64) {
    countStoreFailure(reason)
    store.failed(at: now)
  }

  /// A new, empty store is in the place of one that was damaged: all that waits is written anew.
  mutating func storeReplaced() {
    countMovedAside()
    store.replaced()
  }

  mutating func countStoreFailure(_ reason: String) {
    metrics.storeFailures += 1
    metrics.lastStoreFailure = reason
  }

  mutating func countMovedAside() { metrics.storesMovedAside += 1 }
}

extension Int64 {
  /// The sum, at its bounds where it does not fit.
  func adding(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other > 0 ? .max : .min) : sum
  }
}
