public import BusClient
public import EventModel
internal import Synchronization

/// A bus that keeps what is published on it, in order, for the tests of programs that publish.
///
/// ```swift
/// let recorder = EventRecorder()
/// game.start(on: recorder)
/// #expect(recorder.names == ["Game Started"])
/// ```
public final class EventRecorder: EventPublishing {
  private struct State: Sendable {
    var calls: [Call] = []
    var failure: BusClientError?
  }

  public enum Call: Sendable {
    case published(any PublishableEvent)
    /// Refused by `fail(with:)`.
    case refused(any PublishableEvent, BusClientError)
  }

  private let state = Mutex(State())

  public init() {}

  public func publish(_ event: some PublishableEvent) throws(BusClientError) {
    let failure = state.withLock { state in
      if let failure = state.failure {
        state.calls.append(.refused(event, failure))
      } else {
        state.calls.append(.published(event))
      }
      return state.failure
    }
    if let failure { throw failure }
  }

  /// Makes each later `publish` throw, to test what the program does then; nil ends it.
  public func fail(with error: BusClientError?) { state.withLock { $0.failure = error } }

  /// Everything that was called, in order.
  public var calls: [Call] { state.withLock { $0.calls } }

  public var events: [any PublishableEvent] {
    calls.compactMap { if case .published(let event) = $0 { event } else { nil } }
  }

  public var names: [EventType] { events.map(\.eventType) }

  /// The events of one Swift type.
  public func events<E: PublishableEvent>(of type: E.Type) -> [E] { events.compactMap { $0 as? E } }

  public func removeAll() { state.withLock { $0.calls = [] } }
}
