internal import Primitives
internal import Synchronization

// From any thread; each returns at once.
extension AnalyticsService {
  /// Takes an event, with the time of the call unless it has its own. About 0.1 µs; the first
  /// after a pause takes 5 to 15 µs, since caches are cold, and arms a timer besides, one system call.
  public nonisolated func send(_ event: any PublishableEvent) {
    guard isHeard() else { return }
    call(.event(event, event.eventTimestamp ?? .now(), nil))
  }

  /// The same, with a closure that may change this one event, or drop it with nil: it runs behind the
  /// plugins of the enrichment stage, on the service's thread.
  public nonisolated func track(
    _ event: any PublishableEvent,
    enriching enrich: @escaping @Sendable (EventEnvelope) -> EventEnvelope?
  ) {
    guard isHeard() else { return }
    call(.event(event, event.eventTimestamp ?? .now(), enrich))
  }

  /// The person is known from here on, also in later launches: a userId for all events, and an identify
  /// event with what is known of them.
  public nonisolated func identify(_ userId: String, traits: PropertyObject? = nil) {
    guard isHeard() else { return }
    call(.identify(userId: userId, traits: traits, .now()))
  }

  /// A screen was shown.
  public nonisolated func screen(
    _ name: String, category: String? = nil, properties: PropertyObject? = nil
  ) {
    guard isHeard() else { return }
    var envelope = EventEnvelope(.screen)
    envelope[.name] = .string(name)
    envelope[.category] = category.map(PropertyValue.string)
    envelope.properties = properties
    call(.envelope(envelope, .now()))
  }

  /// The person belongs to a group: a company, a team.
  public nonisolated func group(_ groupId: String, traits: PropertyObject? = nil) {
    guard isHeard() else { return }
    var envelope = EventEnvelope(.group)
    envelope[.groupId] = .string(groupId)
    envelope.traits = traits
    call(.envelope(envelope, .now()))
  }

  /// The person's new id; the one so far, or the anonymous one, becomes its `previousId`.
  public nonisolated func alias(_ userId: String) {
    guard isHeard() else { return }
    call(.alias(userId: userId, .now()))
  }

  /// Properties of all tracks and screens from now on; an event's own value of a key wins.
  public nonisolated func setCommonProperties(_ properties: PropertyObject) {
    call(.commonProperties(properties))
  }

  /// The session of events from now on, as `sessionId` of their context; nil leaves it to the timeout.
  public nonisolated func setSessionId(_ id: String?) { call(.session(id)) }

  /// Forgets who the person is, as when they sign out: the userId goes, a new anonymous id and a new session
  /// begin, and nothing on the device links the two.
  ///
  /// What was tracked before happened under the old ids and is still delivered, unless `erasingQueue` is
  /// true: then providers forget what they have not sent. What has left the device is erased on the
  /// server, under the old ids: `eventbus archive forget --user ID --anonymous ID`. Read ``identity``
  /// first, where such a request is to follow.
  public nonisolated func reset(erasingQueue: Bool = false) {
    call(.reset(erasing: erasingQueue))
  }

  /// The person does not want to be tracked: from this call on nothing is taken and nothing leaves. What
  /// waits anywhere is erased in memory and on disk, and so are the ids. The choice is kept until `optIn`.
  public nonisolated func optOut() {
    isSilent.store(true, ordering: .sequentiallyConsistent)
    call(.optOut)
  }

  /// The person may be tracked again, under a new anonymous id.
  public nonisolated func optIn() {
    isSilent.store(false, ordering: .sequentiallyConsistent)
    call(.optIn)
  }

  /// The process has started. Call it once a launch, first; more calls change nothing.
  public nonisolated func applicationLaunched(version: String, build: String) {
    call(.lifecycle(.launched(version: version, build: build), .now()))
  }

  /// The app left the front: it is tracked, and what waits is sent.
  public nonisolated func applicationBackgrounded() { call(.lifecycle(.backgrounded, .now())) }

  /// The app came to the front. Tracked only after it was in the background, so that a launch, which the
  /// system follows with this notification, opens it once.
  public nonisolated func applicationForegrounded() { call(.lifecycle(.foregrounded, .now())) }

  /// False when the person opted out; the event is counted.
  private nonisolated func isHeard() -> Bool {
    guard isSilent.load(ordering: .relaxed) else { return true }
    unheard.add(1, ordering: .relaxed)
    return false
  }
}

extension AnalyticsService {
  /// Works on all that was told so far, and lets providers send what waits.
  @discardableResult
  public func flush() async -> AnalyticsFlushResult {
    await settle()
    return await flushProviders()
  }

  /// Who events are about now.
  public var identity: EventIdentity {
    get async {
      await settle()
      return core.identity
    }
  }

  /// Whether the person does not want to be tracked, by this launch or an earlier one.
  public var isOptedOut: Bool {
    get async {
      await settle()
      return core.isOptedOut
    }
  }

  /// Counts up to now.
  public var metrics: AnalyticsServiceMetrics {
    get async {
      await settle()
      var metrics = counts
      let unheard = unheard.load(ordering: .relaxed)
      metrics.tracked += unheard
      metrics.optedOut += unheard
      return metrics
    }
  }
}
