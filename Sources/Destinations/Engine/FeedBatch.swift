public import BusProtocol
public import Hashing
internal import Primitives
public import SinkState

/// What the feed hands to the engine: one batch of the bus, each event prepared.
public struct FeedBatch: Sendable {
  public enum Entry: Sendable {
    case event(DeliveryEvent)
    /// `$forget`.
    case forget(ForgetMark)
  }

  /// An operator moved the cursor to this place before this batch.
  public var seek: (to: Position, generation: UInt64)?
  /// Events before this place are gone.
  public var gap: Position?
  public var entries: [Entry]
  /// Everything before it was looked at; nil for a part of a batch, which ends with its last event.
  public var end: Position?

  public init(entries: [Entry], end: Position?) {
    self.entries = entries
    self.end = end
  }

  /// Takes off the first entries, as many as there is room for, but at least one; all of them: the
  /// whole batch, and this one is left without entries and without an end.
  mutating func takeFirst(events: Int, bytes: Int) -> FeedBatch {
    var count = 0
    var cost = 0
    for entry in entries {
      if case .event(let event) = entry { cost += event.cost }
      if count > 0, count >= events || cost > bytes { break }
      count += 1
    }
    var part = FeedBatch(entries: [], end: nil)
    swap(&part.seek, &seek)
    swap(&part.gap, &gap)
    if count == entries.count {
      swap(&part.entries, &entries)
      swap(&part.end, &end)
    } else {
      part.entries = Array(entries[..<count])
      entries.removeFirst(count)
    }
    return part
  }
}

/// A `$forget` event: whose events before it are erased.
public struct ForgetMark: Hashable, Sendable {
  public var people: [ForgottenPeople.Entry]
  public var place: Position

  public init(_ people: [ForgottenPeople.Entry], at place: Position) {
    self.people = people
    self.place = place
  }

  /// Whether an event is about one of them. What cannot be read is about nobody.
  public func concerns(_ payload: RawSpan, key: KeyedHash) -> Bool {
    do throws(MessagePackError) {
      let fields = try EventFields(reading: payload)
      let ids = fields.people
      for index in ids.indices {
        guard let person = try PersonHash.hash(ids[index], in: payload, by: key) else { continue }
        if people.contains(where: { $0.person == person }) { return true }
      }
    } catch {}
    return false
  }
}
