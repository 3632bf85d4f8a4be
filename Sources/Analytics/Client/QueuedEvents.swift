/// An event that waits to be sent: its place in the order of tracking, and its JSON without `sentAt`.
struct QueuedEvent: Sendable, Hashable {
  var id: Int64
  /// A JSON object.
  var body: [UInt8]
}

/// The events that wait, oldest first. Taking from the front costs nothing that grows with the rest.
struct QueuedEvents: Sendable {
  private var storage: [QueuedEvent?] = []
  private var head = 0
  /// Of all bodies together.
  private(set) var bytes = 0

  var count: Int { storage.count - head }
  var isEmpty: Bool { count == 0 }
  var last: QueuedEvent? { storage.last ?? nil }

  subscript(_ index: Int) -> QueuedEvent {
    guard let event = storage[head + index] else { preconditionFailure("a taken event is read") }
    return event
  }

  /// The first `count` events.
  func prefix(_ count: Int) -> [QueuedEvent] { storage[head..<head + count].compactMap(\.self) }

  /// The events behind `id`.
  func after(_ id: Int64) -> [QueuedEvent] {
    var start = storage.count
    while start > head, let event = storage[start - 1], event.id > id { start -= 1 }
    return storage[start...].compactMap(\.self)
  }

  mutating func append(_ event: QueuedEvent) {
    precondition(event.id > last?.id ?? .min, "event \(event.id) comes behind a later one")
    storage.append(event)
    bytes += event.body.count
  }

  /// Puts older ones in front.
  mutating func prepend(_ events: [QueuedEvent]) {
    precondition(
      events.last?.id ?? .min < storage[head...].first??.id ?? .max, "older events go in front")
    storage.replaceSubrange(0..<head, with: events)
    head = 0
    bytes += events.reduce(0) { $0 + $1.body.count }
  }

  /// Gives all of them later places in the order.
  mutating func renumber(by distance: Int64) {
    for index in head..<storage.count { storage[index]?.id += distance }
  }

  mutating func removeFirst(_ count: Int) {
    for index in head..<head + count { release(index) }
    head += count
    guard head > 1024, head > storage.count / 2 else { return }
    storage.removeFirst(head)
    head = 0
  }

  /// Takes out the event at `index`; costs as much as there are events before it.
  mutating func remove(at index: Int) {
    let place = head + index
    bytes -= self[index].body.count
    var at = place
    while at > head {
      storage[at] = storage[at - 1]
      at -= 1
    }
    storage[head] = nil
    head += 1
  }

  mutating func removeAll() {
    storage = []
    head = 0
    bytes = 0
  }

  private mutating func release(_ index: Int) {
    bytes -= storage[index]?.body.count ?? 0
    storage[index] = nil
  }
}
