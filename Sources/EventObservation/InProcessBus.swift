public import EventModel
internal import Synchronization

/// A bus inside one program, in the manner of `NotificationCenter`: observers of an event type are
/// called on the publisher's thread, in the order in which they were added, before `publish` returns.
///
/// No lock is held while they run, so they may publish, add and remove. One that is removed while an
/// event is on its way to it may still be called for that event, and for no later one.
public final class InProcessBus: Sendable {
  private struct Observer: Sendable {
    var id: UInt64
    var call: @Sendable (any PublishableEvent) -> Void
  }

  private struct State: Sendable {
    var observers: [EventType: [Observer]] = [:]
    var everything: [Observer] = []
    var nextID: UInt64 = 0
  }

  private let state = Mutex(State())

  public init() {}

  public func publish(_ event: some PublishableEvent) {
    let type = event.eventType
    let (typed, everything) = state.withLock { ($0.observers[type] ?? [], $0.everything) }
    // Both lists rise in id: merged, they give the order of adding.
    var rest = everything[...]
    for observer in typed {
      while let first = rest.first, first.id < observer.id {
        first.call(event)
        rest.removeFirst()
      }
      observer.call(event)
    }
    for observer in rest { observer.call(event) }
  }

  /// Calls `body` with each event of this Swift type. Keep the token: the observer goes with it.
  public func addObserver<E: PublishableEvent>(
    for type: E.Type, using body: @escaping @Sendable (E) -> Void
  ) -> ObserverToken {
    add(E.eventType) { event in
      if let event = event as? E { body(event) }
    }
  }

  /// Calls `body` with each event of this name, whatever its Swift type.
  public func addObserver(
    named type: EventType, using body: @escaping @Sendable (any PublishableEvent) -> Void
  ) -> ObserverToken {
    add(type, body)
  }

  /// Calls `body` with every event.
  public func addObserver(
    using body: @escaping @Sendable (any PublishableEvent) -> Void
  ) -> ObserverToken {
    add(nil, body)
  }

  public func removeObserver(_ token: ObserverToken) { remove(token.id, token.type) }

  private func add(
    _ type: EventType?, _ body: @escaping @Sendable (any PublishableEvent) -> Void
  ) -> ObserverToken {
    let id = state.withLock { state in
      state.nextID += 1
      let observer = Observer(id: state.nextID, call: body)
      if let type {
        state.observers[type, default: []].append(observer)
      } else {
        state.everything.append(observer)
      }
      return state.nextID
    }
    return ObserverToken(id: id, type: type, bus: self)
  }

  fileprivate func remove(_ id: UInt64, _ type: EventType?) {
    // What is removed is released outside the lock: its closure may own anything.
    let removed = state.withLock { state -> [Observer] in
      guard let type else {
        let removed = state.everything.filter { $0.id == id }
        state.everything.removeAll { $0.id == id }
        return removed
      }
      let removed = state.observers[type]?.filter { $0.id == id } ?? []
      state.observers[type]?.removeAll { $0.id == id }
      if state.observers[type]?.isEmpty == true { state.observers[type] = nil }
      return removed
    }
    _ = removed
  }

  /// Stands for an observer, which is removed with it.
  public final class ObserverToken: Sendable {
    fileprivate let id: UInt64
    fileprivate let type: EventType?
    private weak let bus: InProcessBus?

    fileprivate init(id: UInt64, type: EventType?, bus: InProcessBus) {
      self.id = id
      self.type = type
      self.bus = bus
    }

    deinit { bus?.remove(id, type) }
  }
}
