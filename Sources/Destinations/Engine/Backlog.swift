internal import BusProtocol
internal import Primitives

/// Everything taken from the bus and not yet committed, in journal order.
///
/// Events are settled in any order; they leave at the front only, so the cursor never passes one that
/// is not settled. Names an event by its number, dense from 0.
struct Backlog: Sendable {
  typealias Number = UInt64

  enum Entry: Sendable {
    case event(Slot)
    /// Everything before it was looked at; also what the filters left out.
    case reached(Position)
    /// What the bus no longer has.
    case gap(Position)
    /// People asked to be forgotten here.
    case forget(ForgetMark)
  }

  struct Slot: Sendable {
    var event: DeliveryEvent
    var outcome: DeliveryOutcome?
    var tries = 0
    /// Erase it as soon as it is not under way.
    var isForgotten = false
  }

  private var entries = Queue<Entry>()
  private var base: Number = 0
  /// Unsettled events.
  private(set) var waiting = 0
  /// What all of its events cost, those settled included until they leave without their bytes.
  private(set) var cost = 0

  var count: Int { entries.count }
  var isEmpty: Bool { entries.isEmpty }
  var numbers: Range<Number> { base..<base + Number(entries.count) }

  /// Takes an event; it is settled at once when it is not to be sent.
  mutating func append(_ event: DeliveryEvent) -> Number {
    if event.settled == nil { waiting += 1 }
    cost += event.cost
    entries.append(.event(Slot(event: event, outcome: event.settled)))
    return base + Number(entries.count - 1)
  }

  mutating func append(_ mark: Entry) { entries.append(mark) }

  func slot(_ number: Number) -> Slot? {
    guard numbers.contains(number), case .event(let slot) = entries[Int(number - base)] else {
      return nil
    }
    return slot
  }

  /// The parts that deciding needs, without copying the slot.
  func isWaiting(_ number: Number) -> Bool {
    guard numbers.contains(number), case .event(let slot) = entries[Int(number - base)] else {
      return false
    }
    return slot.outcome == nil
  }

  func key(_ number: Number) -> UInt64 {
    if case .event(let slot) = entries[Int(number - base)] { slot.event.key } else { 0 }
  }

  func itemBytes(_ number: Number) -> Int {
    if case .event(let slot) = entries[Int(number - base)] { slot.event.item.count } else { 0 }
  }

  func item(_ number: Number) -> [UInt8] {
    if case .event(let slot) = entries[Int(number - base)] { slot.event.item } else { [] }
  }

  mutating func change(_ number: Number, _ body: (inout Slot) -> Void) {
    guard numbers.contains(number), case .event(var slot) = entries[Int(number - base)] else {
      return
    }
    // Taken out of the array while it is changed, so that nothing is copied.
    entries[Int(number - base)] = .reached(Position(epoch: 0, offset: 0))
    body(&slot)
    entries[Int(number - base)] = .event(slot)
  }

  /// What became of it. The bytes that are not needed any more are freed at once.
  mutating func settle(_ number: Number, _ outcome: DeliveryOutcome) {
    var freed = 0
    var wasWaiting = false
    change(number) { slot in
      precondition(slot.outcome == nil, "event \(number) is settled twice")
      wasWaiting = true
      freed = slot.event.item.count
      slot.event.item = []
      if case .dead = outcome {
      } else {
        freed += slot.event.payload.count
        slot.event.payload = []
      }
      slot.outcome = outcome
    }
    precondition(wasWaiting, "event \(number) is settled and was not taken")
    waiting -= 1
    cost -= freed
  }

  /// The first entry, if it is settled.
  mutating func popSettled() -> Entry? {
    guard let first = entries.first else { return nil }
    if case .event(let slot) = first {
      guard slot.outcome != nil else { return nil }
      cost -= slot.event.cost
    }
    base += 1
    return entries.popFirst()
  }

  /// Forgets everything; numbers go on.
  mutating func removeAll() {
    base += Number(entries.count)
    entries = Queue()
    waiting = 0
    cost = 0
  }

  /// Makes an event forgotten that waits or is a dead letter not stored yet.
  mutating func erase(_ number: Number) {
    var freed = 0
    var wasWaiting = false
    change(number) { slot in
      wasWaiting = slot.outcome == nil
      freed = slot.event.item.count + slot.event.payload.count
      slot.event.item = []
      slot.event.payload = []
      slot.outcome = .forgotten
    }
    waiting -= wasWaiting ? 1 : 0
    cost -= freed
  }

  var isFrontSettled: Bool {
    guard let first = entries.first else { return false }
    if case .event(let slot) = first { return slot.outcome != nil }
    return true
  }

  /// The first event that is not settled.
  var oldest: DeliveryEvent? {
    for index in 0..<entries.count {
      if case .event(let slot) = entries[index], slot.outcome == nil { return slot.event }
    }
    return nil
  }

  /// Calls `body` with each event that waits or is a dead letter not stored yet.
  func forEachKept(_ body: (Number, DeliveryEvent) -> Void) {
    for index in 0..<entries.count {
      guard case .event(let slot) = entries[index] else { continue }
      switch slot.outcome {
      case nil, .dead: body(base + Number(index), slot.event)
      case .delivered, .unproven, .skipped, .forgotten: break
      }
    }
  }
}
