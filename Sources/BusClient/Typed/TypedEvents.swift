public import BusProtocol
internal import EventCodec
public import EventModel
internal import Primitives

/// An event as a typed subscriber gets it.
public enum TypedEvent<Event: Sendable>: Sendable {
  case event(Event, at: Position)
  /// It has the name, but not the shape: left to the program, which goes on.
  case undecodable(ReceivedEvent, EventDecodingError)

  /// The event, if it could be decoded.
  public var event: Event? { if case .event(let event, _) = self { event } else { nil } }
}

extension EventBatch {
  /// The events called as `type` is, decoded; those with other names are left out.
  public func decode<E: SubscribableEvent>(as type: E.Type = E.self) -> [TypedEvent<E>] {
    let wanted = Array(E.eventType.rawValue.utf8)
    var result: [TypedEvent<E>] = []
    forEach { place, name, payload in
      guard unsafe name.isEqual(to: wanted.span.bytes) else { return }
      do throws(EventDecodingError) {
        result.append(.event(try PayloadReader(payload).event(E.self), at: place.position))
      } catch {
        result.append(.undecodable(ReceivedEvent(place, name, payload), error))
      }
    }
    return result
  }

  /// The events whose types the catalogue knows, in order.
  public func decode(by catalog: EventCatalog) -> [TypedEvent<any SubscribableEvent>] {
    var result: [TypedEvent<any SubscribableEvent>] = []
    forEach { place, name, payload in
      do throws(EventDecodingError) {
        let event = try decoded(payload, EventType(text(name)), by: catalog)
        if let event { result.append(.event(event, at: place.position)) }
      } catch {
        result.append(.undecodable(ReceivedEvent(place, name, payload), error))
      }
    }
    return result
  }
}

extension ReceivedEvent {
  init(_ place: EventBatch.Place, _ name: RawSpan, _ payload: RawSpan) {
    self.init(
      name: text(name), payload: payload.copied(), offset: place.offset, epoch: place.epoch,
      time: place.time, isAddressed: place.isAddressed)
  }

  /// The typed event.
  public func decode<E: SubscribableEvent>(
    as type: E.Type = E.self
  ) throws(EventDecodingError) -> E {
    try unsafe PayloadReader(payload.span.bytes).event(E.self)
  }
}

private func decoded(
  _ payload: RawSpan, _ type: EventType, by catalog: EventCatalog
) throws(EventDecodingError) -> (any SubscribableEvent)? {
  let payload = PayloadReader(payload)
  let properties: PropertyReader
  do throws(MessagePackError) { properties = try payload.properties() } catch {
    throw EventDecodingError(error)
  }
  return try catalog.decode(type, properties: properties)
}

extension Subscriber {
  /// Typed events as they come; each batch is committed when all its events were taken, so the program
  /// has each at least once. Ends with `close`; throws as `batches` does.
  public func events<E: SubscribableEvent>(
    of type: E.Type, commits: Bool = true
  ) -> TypedEvents<E> {
    TypedEvents(subscriber: self, commits: commits) { $0.decode(as: E.self) }
  }

  /// Events of all types that the catalogue knows.
  public func events(
    by catalog: EventCatalog, commits: Bool = true
  ) -> TypedEvents<any SubscribableEvent> {
    TypedEvents(subscriber: self, commits: commits) { $0.decode(by: catalog) }
  }
}

public struct TypedEvents<Event: Sendable>: AsyncSequence, Sendable {
  let subscriber: Subscriber
  let commits: Bool
  let decode: @Sendable (EventBatch) -> [TypedEvent<Event>]

  public func makeAsyncIterator() -> Iterator { Iterator(events: self) }

  public struct Iterator: AsyncIteratorProtocol {
    let events: TypedEvents
    private var ready: [TypedEvent<Event>] = []
    private var next = 0
    private var end: Position?

    init(events: TypedEvents) { self.events = events }

    public mutating func next() async throws -> TypedEvent<Event>? {
      while next == ready.count {
        if let end, events.commits { events.subscriber.commit(end) }
        end = nil
        guard let batch = try await events.subscriber.shared.next() else { return nil }
        ready = events.decode(batch)
        next = 0
        end = batch.end
        events.subscriber.count(ready)
      }
      next += 1
      return ready[next - 1]
    }
  }
}

extension Subscriber {
  func count<E>(_ events: [TypedEvent<E>]) {
    let undecodable = events.reduce(0) { if case .undecodable = $1 { $0 + 1 } else { $0 } }
    guard undecodable > 0 else { return }
    shared.tell { $0.status.undecodable += UInt64(undecodable) }
  }
}
