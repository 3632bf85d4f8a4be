internal import Primitives

/// What callers tell a service, in order.
enum ServiceCall: Sendable {
  case event(any PublishableEvent, Timestamp, (@Sendable (EventEnvelope) -> EventEnvelope?)?)
  /// An event that is no track.
  case envelope(EventEnvelope, Timestamp)
  case identify(userId: String, traits: PropertyObject?, Timestamp)
  case alias(userId: String, Timestamp)
  case lifecycle(LifecycleNotice, Timestamp)
  case commonProperties(PropertyObject)
  case session(String?)
  case reset(erasing: Bool)
  case optOut
  case optIn

  /// Whether an event comes of it, whoever the person is.
  var isEvent: Bool {
    switch self {
    case .event, .envelope, .identify, .alias: true
    case .lifecycle, .commonProperties, .session, .reset, .optOut, .optIn: false
    }
  }
}

/// Decides what events come of a call, and who they are about. Pure: times come with the calls, ids from a
/// seed.
struct AnalyticsServiceCore: Sendable {
  /// What comes of a call.
  enum Outcome: Sendable {
    case event(StampedEvent)
    /// For plugins: not encoded yet.
    case envelope(EventEnvelope, (@Sendable (EventEnvelope) -> EventEnvelope?)?)
    case refused(String)
    case optedOut
    /// Providers forget what they keep.
    case erase
    /// Providers send what waits: the app left the front.
    case flush
  }

  private(set) var settings: AnalyticsSettings
  private var stamper: EventStamper
  private var session: SessionCore
  private var lifecycle: LifecycleCore
  /// Plugins want envelopes; without any, events go straight into bytes.
  private let wantsEnvelopes: Bool
  private let startsOptedOut: Bool
  /// `reset` or `optOut` was called: who the person was in an earlier launch counts no more.
  private var hasForgotten = false

  init(
    _ configuration: AnalyticsServiceConfiguration, seed: UInt64, settings: AnalyticsSettings,
    wantsEnvelopes: Bool
  ) {
    self.settings = settings
    self.wantsEnvelopes = wantsEnvelopes
    startsOptedOut = configuration.startsOptedOut
    stamper = EventStamper(seed: seed)
    stamper.context = configuration.context.merging(["library": ["name": "eventbus"]])
    session = SessionCore(timeout: configuration.sessionTimeout)
    lifecycle = LifecycleCore(stored: settings.version)
  }

  /// What an earlier launch kept; before any call.
  ///
  /// - Parameter isUnknown: there was one, and what it kept cannot be read.
  mutating func restore(_ settings: AnalyticsSettings, isUnknown: Bool = false) {
    self.settings = settings
    lifecycle.stored = settings.version
    lifecycle.isFirstLaunch = settings.version == nil && !isUnknown
  }

  /// The same when the store could be opened only now: the device's anonymous id is the one from there, and
  /// what was told since wins.
  mutating func restoreLate(_ earlier: AnalyticsSettings) {
    if earlier.version != nil, settings.version == nil {
      settings.version = earlier.version
      lifecycle.stored = earlier.version
    }
    guard !hasForgotten else { return }
    settings.choice = settings.choice ?? earlier.choice
    settings.anonymousId = earlier.anonymousId ?? settings.anonymousId
    settings.userId = settings.userId ?? earlier.userId
  }

  /// Nothing is tracked.
  var isOptedOut: Bool { settings.choice.map { $0 == .optedOut } ?? startsOptedOut }

  var identity: EventIdentity {
    EventIdentity(userId: settings.userId, anonymousId: settings.anonymousId ?? "")
  }

  mutating func take(_ call: ServiceCall) -> [Outcome] {
    switch call {
    case .event(let event, let time, let enrich): return [track(event, time, enrich)]
    case .envelope(let envelope, let time): return [stamp(envelope, time)]
    case .identify(let userId, let traits, let time): return identify(userId, traits, time)
    case .alias(let userId, let time): return alias(userId, time)
    case .lifecycle(let notice, let time): return tell(notice, time)
    case .commonProperties(let properties): stamper.common = properties
    case .session(let id): session.set(id)
    case .reset(let erases): return reset(erases)
    case .optOut: return optOut()
    case .optIn: settings.choice = .optedIn
    }
    return []
  }

  private mutating func track(
    _ event: any PublishableEvent, _ time: Timestamp,
    _ enrich: (@Sendable (EventEnvelope) -> EventEnvelope?)?
  ) -> Outcome {
    guard !isOptedOut else { return .optedOut }
    prepare(at: time)
    do throws(EventEncodingError) {
      let stamped = try stamper.stamp(event, at: time)
      guard wantsEnvelopes || enrich != nil else { return .event(stamped) }
      return .envelope(stamped.envelope, enrich)
    } catch {
      return .refused("\(event.eventType): \(error)")
    }
  }

  private mutating func stamp(_ envelope: EventEnvelope, _ time: Timestamp) -> Outcome {
    guard !isOptedOut else { return .optedOut }
    prepare(at: time)
    let completed = stamper.completed(envelope, at: time)
    if wantsEnvelopes { return .envelope(completed, nil) }
    do throws(EventEncodingError) {
      return .event(try StampedEvent(completed))
    } catch {
      return .refused("\(envelope.topic): \(error)")
    }
  }

  /// Who and when, for the next event.
  private mutating func prepare(at time: Timestamp) {
    if settings.anonymousId == nil { settings.anonymousId = stamper.newID(at: time) }
    stamper.identity = identity
    let id = session.session(at: time) { stamper.newID(at: time) }
    if stamper.sessionId != id { stamper.sessionId = id }
  }

  private mutating func identify(
    _ userId: String, _ traits: PropertyObject?, _ time: Timestamp
  ) -> [Outcome] {
    guard !isOptedOut else { return [.optedOut] }
    settings.userId = userId
    var envelope = EventEnvelope(.identify)
    envelope.traits = traits
    return [stamp(envelope, time)]
  }

  private mutating func alias(_ userId: String, _ time: Timestamp) -> [Outcome] {
    guard !isOptedOut else { return [.optedOut] }
    prepare(at: time)
    var envelope = EventEnvelope(.alias)
    envelope[.previousId] = .string(settings.userId ?? identity.anonymousId)
    settings.userId = userId
    return [stamp(envelope, time)]
  }

  private mutating func tell(_ notice: LifecycleNotice, _ time: Timestamp) -> [Outcome] {
    let events = lifecycle.take(notice, at: time)
    settings.version = lifecycle.stored
    var outcomes = events.map { track($0, time, nil) }
    if notice == .backgrounded, !events.isEmpty { outcomes.append(.flush) }
    return outcomes
  }

  private mutating func reset(_ erases: Bool) -> [Outcome] {
    settings.userId = nil
    settings.anonymousId = nil
    hasForgotten = true
    session.end()
    return erases ? [.erase] : []
  }

  private mutating func optOut() -> [Outcome] {
    let version = settings.version
    settings = AnalyticsSettings()
    settings.choice = .optedOut
    hasForgotten = true
    settings.version = version
    stamper.common = [:]
    stamper.identity = identity
    session.end()
    return [.erase]
  }
}
