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
  private(set) var queue = QueuedEvents()
  private(set) var inFlight = 0
  private(set) var metrics = AnalyticsClientMetrics()
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
  private var requestCap: Int
  private var backoff: Backoff
  private var notBefore = Int64.min
  private var isServerWaiting = false
  private var dropsInARow = 0

  /// Nil where there is no store.
  private var savedTo: Int64?
  private var pendingDeletes: [ClosedRange<Int64>] = []
  private var storeNotBefore = Int64.min

  /// Refusals one after another after which the server, not the events, is taken to be at fault.
  static let mostDropsInARow = 20
  /// The least wait after an answer that somebody has to mend.
  static let misconfiguredPause: Int64 = 60_000_000_000
  static let storePause: Int64 = 10_000_000_000

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
      savedTo = last.id
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
    if let saved = savedTo { savedTo = saved + distance }
    for index in waiters.indices { waiters[index].target += distance }
  }

  private mutating func takeLate() {
    guard inFlight == 0, !late.isEmpty else { return }
    queue.prepend(late)
    late = []
    shed()
  }

  /// A store is there, holding what `restore` was given.
  mutating func storeOpened() {
    if savedTo == nil { savedTo = nextID - 1 }
    storeNotBefore = .min
  }

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
      forget(id...id)
    }
  }

  /// All that waits goes, also what is under way: its outcome counts no more.
  mutating func erase() {
    metrics.erased += queue.count + late.count
    queue.removeAll()
    late = []
    inFlight = 0
    attempt += 1
    pendingDeletes = []
    if savedTo != nil { savedTo = nextID - 1 }
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

  private mutating func settle(
    _ outcome: RequestOutcome, at now: Int64, _ random: inout some RandomNumberGenerator
  ) {
    switch outcome {
    case .delivered(let refused):
      metrics.delivered += inFlight - refused.count
      metrics.refused += refused.count
      if let first = refused.min(by: { $0.key < $1.key }) { metrics.lastRefusal = first.value }
      settle(inFlight)
      succeed()
      requestCap = min(max(1, configuration.requestEvents), requestCap * 2)
      dropsInARow = 0
    case .tooLarge(let reason): split(reason, isServersFault: false, at: now, &random)
    case .rejected(let reason): split(reason, isServersFault: true, at: now, &random)
    case .failed(let reason, let wait):
      let own = backoff.next(using: &random).nanoseconds
      let asked = wait?.nanoseconds ?? 0
      fail(reason, until: now.adding(asked > 0 ? asked : own), isServers: asked > 0)
    case .misconfigured(let reason):
      let own = backoff.next(using: &random).nanoseconds
      fail(reason, until: now.adding(max(own, Self.misconfiguredPause)), isServers: false)
    }
  }

  private mutating func succeed() {
    backoff.reset()
    notBefore = .min
    isServerWaiting = false
    metrics.lastFailure = nil
  }

  /// Half as many next time; an event that is refused alone is dropped.
  private mutating func split(
    _ reason: String, isServersFault: Bool, at now: Int64,
    _ random: inout some RandomNumberGenerator
  ) {
    metrics.failedRequests += 1
    guard inFlight == 1 else {
      requestCap = max(1, inFlight / 2)
      inFlight = 0
      return
    }
    metrics.refused += 1
    metrics.lastRefusal = reason
    settle(1)
    dropsInARow += 1
    guard isServersFault, dropsInARow >= Self.mostDropsInARow else { return }
    let own = backoff.next(using: &random).nanoseconds
    metrics.failedRequests -= 1
    fail(reason, until: now.adding(max(own, Self.misconfiguredPause)), isServers: false)
  }

  private mutating func fail(_ reason: String, until time: Int64, isServers: Bool) {
    metrics.failedRequests += 1
    metrics.lastFailure = reason
    inFlight = 0
    notBefore = time
    isServerWaiting = isServers
  }

  private mutating func settle(_ count: Int) {
    forget(queue[0].id...queue[count - 1].id)
    queue.removeFirst(count)
    inFlight = 0
  }

  private mutating func forget(_ ids: ClosedRange<Int64>) {
    guard let savedTo, ids.lowerBound <= savedTo else { return }
    // Neighbours become one range, so that a shedding queue does not gather many.
    if let last = pendingDeletes.last, last.upperBound < ids.lowerBound,
      queueHasNone(between: last.upperBound, ids.lowerBound)
    {
      pendingDeletes[pendingDeletes.count - 1] = last.lowerBound...ids.upperBound
    } else {
      pendingDeletes.append(ids)
    }
  }

  private func queueHasNone(between low: Int64, _ high: Int64) -> Bool { low + 1 == high }
}

// What to do.
extension AnalyticsClientCore {
  mutating func actions(at now: Int64) -> [AnalyticsClientAction] {
    var actions: [AnalyticsClientAction] = []
    if let since = untargetedSince, now - since >= configuration.flushInterval.nanoseconds {
      targetAll()
    }
    if let store = storeAction(at: now) { actions.append(store) }
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
    if savedTo != nil, storeNotBefore > .min { times.append(storeNotBefore) }
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
    status.isStored = savedTo.map { $0 >= queue.last?.id ?? 0 } ?? false
    return status
  }
}

// The store.
extension AnalyticsClientCore {
  private mutating func storeAction(at now: Int64) -> AnalyticsClientAction? {
    guard now >= storeNotBefore else { return nil }
    let (save, delete) = unsaved
    // After a failure also without anything to write: an earlier launch's events may be waiting there.
    guard !save.isEmpty || !delete.isEmpty || (savedTo != nil && storeNotBefore > .min) else {
      return nil
    }
    return .store(save: save, delete: delete)
  }

  /// What the store does not know yet.
  var unsaved: (save: [QueuedEvent], delete: [ClosedRange<Int64>]) {
    guard let savedTo else { return ([], []) }
    return (queue.after(savedTo), pendingDeletes)
  }

  /// The last `.store` is on disk.
  mutating func stored() {
    savedTo = nextID - 1
    pendingDeletes = []
    storeNotBefore = .min
  }

  /// It is not: tried again after a pause; events go on in memory.
  mutating func storeFailed(_ reason: String, at now: Int64) {
    countStoreFailure(reason)
    storeNotBefore = now.adding(Self.storePause)
  }

  /// A new, empty store is in the place of one that was damaged: all that waits is written anew.
  mutating func storeReplaced() {
    metrics.storesMovedAside += 1
    savedTo = 0
    pendingDeletes = []
    storeNotBefore = .min
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
