internal import Database
internal import Primitives

// What the client's thread does: encoding, the store, one request.
extension AnalyticsClient {
  /// Encodes what callers handed over, in their order.
  func takeInbox() {
    var taken = 0
    while true {
      let (items, overflow) = inbox.take()
      if overflow > 0 { core.shedUnseen(overflow) }
      guard !items.isEmpty else { break }
      taken += items.count
      let before = stamper.nonFiniteCount
      for item in items { take(item) }
      core.countNonFinite(stamper.nonFiniteCount - before)
    }
    // A burst as it came takes more memory than encoded: the app gets it back.
    if taken >= Self.burst { SystemMemory.releaseFreed() }
  }

  private static var burst: Int { 10_000 }

  private func take(_ item: Item) {
    switch item {
    case .event(let event, let time):
      identify()
      do throws(EventEncodingError) {
        core.append(try stamper.stamp(event, at: time).json(using: &scratch), at: now)
      } catch {
        core.refuse("\(event.eventType): \(error)")
      }
    case .stamped(let event): core.append(event.json(using: &scratch), at: now)
    case .change(let change): change(&stamper)
    }
  }

  /// Makes one attempt; its outcome, whatever it is, goes back to the core.
  func send(_ events: [QueuedEvent], _ attempt: Int) async {
    let sentAt = Timestamp.now()
    let outcome: RequestOutcome
    do throws(AnalyticsTransportError) {
      let answer = try await transport.send(request(events, sentAt: sentAt))
      outcome = RequestOutcome(
        answer, events: events.count, at: .now(), longest: configuration.longestPause)
    } catch {
      outcome = .failed(error.description, wait: nil)
    }
    core.finish(outcome, attempt: attempt, at: now, random: &random)
    act()
  }

  private func request(_ events: [QueuedEvent], sentAt: Timestamp) -> AnalyticsRequest {
    let body = RequestBody.json(events, sentAt: sentAt)
    var request = AnalyticsRequest(
      url: configuration.endpoint, headers: [.init("Content-Type", "application/json")],
      body: body, timeout: configuration.requestTimeout)
    if let key = configuration.writeKey {
      request.headers.append(.init("Authorization", "Basic " + Base64.text(Array("\(key):".utf8))))
    }
    if let packed = RequestBody.compressed(body, from: configuration.gzipFrom) {
      request.headers.append(.init("Content-Encoding", "gzip"))
      request.body = packed
    }
    return request
  }
}

// The store.
extension AnalyticsClient {
  /// Opens the store and takes in what an earlier launch left; once, before any event.
  func startIfNeeded() {
    guard !isStarted else { return }
    isStarted = true
    openStore()
  }

  private func openStore() {
    guard storeHolder.isConfigured else { return }
    let opened = storeHolder.open()
    if !opened.events.isEmpty { core.restore(opened.events) }
    core.storeOpened()
    if let failure = opened.failure { core.storeFailed(failure, at: now) }
    if opened.isReplaced { core.storeReplaced() }
  }

  func store(_ save: [QueuedEvent], _ delete: [ClosedRange<Int64>]) {
    do throws(DatabaseError) {
      var (save, delete) = (save, delete)
      if let late = try storeHolder.openLate() {
        core.restoreLate(late.events)
        if hasOwnAnonymousId { takeAnonymousId(late.settings) }
        // The earlier events may have given others new ids.
        if late.isReplaced {
          core.storeReplaced()
          // They have no place in the queue yet while a request is under way.
          let last = late.events.last?.id ?? .min
          (save, delete) = (late.events + core.unsaved.save.filter { $0.id > last }, [])
        } else {
          (save, delete) = core.unsaved
        }
      }
      try storeHolder.apply(save: save, delete: delete)
      core.stored()
    } catch {
      core.storeFailed(error.description, at: now)
      if storeHolder.replaceIfDamaged(error) { saveAnew() }
    }
  }

  /// Writes all that waits to a store that is new.
  private func saveAnew() {
    core.storeReplaced()
    do throws(DatabaseError) {
      try storeHolder.apply(save: core.queue.after(.min), delete: [])
      core.stored()
    } catch {
      core.storeFailed(error.description, at: now)
    }
  }

  /// Gives the first event that no service has stamped an anonymous id: the kept one, or a new one, which
  /// is kept. Beside a service there is none, since it would be one more to forget.
  private func identify() {
    guard stamper.identity.anonymousId.isEmpty else { return }
    takeAnonymousId(storeHolder.settings)
  }

  private func takeAnonymousId(_ settings: [String: String]) {
    if let kept = settings["anonymousId"] {
      stamper.identity.anonymousId = kept
    } else if stamper.identity.anonymousId.isEmpty {
      stamper.identity.anonymousId = stamper.newID(at: .now())
    }
    keepAnonymousId(stamper.identity.anonymousId)
  }

  /// Not one that the app gave.
  private var hasOwnAnonymousId: Bool {
    storeHolder.settings["anonymousId"] == stamper.identity.anonymousId
  }

  private func keepAnonymousId(_ id: String?) {
    do throws(DatabaseError) {
      try storeHolder.set("anonymousId", id)
    } catch {
      core.countStoreFailure(error.description)
    }
  }

  /// Forgets what waits and was not sent, in memory and on disk, and the anonymous id that the client made,
  /// and cuts off what is under way. Later events get a new id.
  public func erase() async {
    var seen = 0
    while true {
      let (items, overflow) = inbox.take()
      guard !items.isEmpty || overflow > 0 else { break }
      for item in items {
        if case .change(let change) = item { change(&stamper) } else { seen += 1 }
      }
      seen += overflow
    }
    startIfNeeded()
    core.eraseUnseen(seen)
    core.erase()
    sending?.cancel()
    if hasOwnAnonymousId { stamper.identity.anonymousId = "" }
    keepAnonymousId(nil)
    do throws(DatabaseError) {
      try storeHolder.eraseEvents()
    } catch {
      core.storeFailed(error.description, at: now)
    }
    act()
  }
}

// As a provider of a service, it gets events that are complete.
extension AnalyticsClient: AnalyticsProvider {
  /// `http`.
  public nonisolated var name: String { "http" }

  /// Takes an event that a service has stamped; as fast as ``send(_:)``.
  public nonisolated func deliver(_ event: StampedEvent) {
    if inbox.add(.stamped(event)) { wake() }
  }
}
