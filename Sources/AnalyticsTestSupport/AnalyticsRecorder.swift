public import Analytics
internal import Synchronization

/// Keeps every call in order, for the tests of code that sends events: as the service itself, or as one of
/// a service's providers.
///
/// ```swift
/// let recorder = AnalyticsRecorder()
/// FeedAnalyticalRegistry(recorder).postLiked(true)
/// #expect(recorder.names == ["Post Liked"])
/// ```
public final class AnalyticsRecorder: AnalyticsEventSending, AnalyticsProvider {
  /// What was done with the recorder.
  public enum Call: Sendable {
    /// `send` or `track` was called.
    case sent(any PublishableEvent)
    /// A service delivered the event.
    case delivered(StampedEvent)
    case flushed
    case erased
  }

  /// By which plugins name it.
  public let name: String
  private let state = Mutex<[Call]>([])

  /// - Parameter name: as a provider's, for plugins that name it.
  public init(name: String = "recorder") { self.name = name }

  public func send(_ event: any PublishableEvent) { add(.sent(event)) }
  public func deliver(_ event: StampedEvent) { add(.delivered(event)) }

  @discardableResult
  public func flush() async -> AnalyticsFlushResult {
    add(.flushed)
    return AnalyticsFlushResult(waiting: 0)
  }

  public func erase() async { add(.erased) }

  /// Everything that was called, in order.
  public var calls: [Call] { state.withLock { $0 } }

  /// What was sent, as it was.
  public var events: [any PublishableEvent] {
    calls.compactMap { if case .sent(let event) = $0 { event } else { nil } }
  }

  /// What was delivered, every field of it.
  public var envelopes: [EventEnvelope] {
    calls.compactMap { if case .delivered(let event) = $0 { event.envelope } else { nil } }
  }

  /// The names of what was sent or delivered, in order.
  public var names: [EventType] {
    calls.compactMap {
      switch $0 {
      case .sent(let event): event.eventType
      case .delivered(let event): EventType(event.topic)
      case .flushed, .erased: nil
      }
    }
  }

  /// The sent events of one Swift type.
  public func events<E: PublishableEvent>(of type: E.Type) -> [E] { events.compactMap { $0 as? E } }

  /// Forgets the calls so far.
  public func removeAll() { state.withLock { $0 = [] } }

  private func add(_ call: Call) { state.withLock { $0.append(call) } }
}
