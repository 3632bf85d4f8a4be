public import BusProtocol
public import Hashing
public import Primitives

/// The persons who asked to be forgotten, as keyed hashes: no id is kept in plain.
///
/// A `$forget` event names one or two ids (its `userId` and `anonymousId`). What lies before it in the
/// journal is erased by each sink; what comes after it is kept, so that a person who comes back is a new
/// person. A replay or an import brings old events again: those batches are addressed, and an event of a
/// forgotten person in one is left out when it did not happen after the person was forgotten.
///
/// At its limit the oldest entry goes; `dropped` counts them. About 64 bytes an entry.
public struct ForgottenPeople: Sendable {
  public static let defaultLimit = 1_000_000

  public struct Entry: Hashable, Sendable {
    public var person: Hash128
    /// The `$forget` event's position.
    public var place: Position
    /// Its journal time, nanoseconds since 1970.
    public var time: Int64

    public init(person: Hash128, place: Position, time: Int64) {
      self.person = person
      self.place = place
      self.time = time
    }
  }

  public let key: KeyedHash
  private let limit: Int
  private var entries: [Hash128: Entry] = [:]
  /// In the order in which they came first: which one goes at the limit.
  private var order: [Hash128] = []
  /// What came since `markSaved`.
  private(set) var unsaved: [Entry] = []
  public private(set) var dropped = 0

  /// - Parameter key: the sink's own, kept beside its hashes.
  public init(key: KeyedHash, limit: Int = ForgottenPeople.defaultLimit) {
    self.key = key
    self.limit = max(1, limit)
  }

  public var count: Int { entries.count }
  public var isEmpty: Bool { entries.isEmpty }

  /// The entry of a person, if there is one.
  public subscript(person: Hash128) -> Entry? { entries[person] }

  /// Takes a `$forget` event.
  ///
  /// - Returns: the persons it names, to be erased before `place`; none when it names nobody.
  /// - Throws: when `payload` is no event.
  public mutating func forget(
    _ payload: RawSpan, at place: Position, time: Int64
  ) throws(MessagePackError) -> [Hash128] {
    let fields = try EventFields(reading: payload)
    var persons: [Hash128] = []
    for value in [fields.userId, fields.anonymousId] {
      if let person = try PersonHash.hash(value, in: payload, by: key), !persons.contains(person) {
        persons.append(person)
      }
    }
    for person in persons { forget(Entry(person: person, place: place, time: time)) }
    return persons
  }

  public mutating func forget(_ entry: Entry) {
    insert(entry)
    unsaved.append(entry)
  }

  private mutating func insert(_ entry: Entry) {
    if entries.updateValue(entry, forKey: entry.person) == nil { order.append(entry.person) }
    guard entries.count > limit else { return }
    entries[order.removeFirst()] = nil
    dropped += 1
  }

  /// Whether an event is left out, since it belongs to what a person asked to be forgotten.
  ///
  /// - Parameters:
  ///   - place: where the journal has it.
  ///   - timestamp: when it happened.
  ///   - isAddressed: it came in a replay or an import (`EventBatch.Place.isAddressed`).
  public func leavesOut(
    _ person: Hash128, at place: Position, timestamp: Int64, isAddressed: Bool
  ) -> Bool {
    guard let entry = entries[person] else { return false }
    // Before the $forget: a sink that reads a part of the journal again.
    return isAddressed ? timestamp <= entry.time : place < entry.place
  }

  /// The same for all ids of an event.
  public func leavesOut(
    _ fields: EventFields, of payload: RawSpan, at place: Position, isAddressed: Bool
  ) throws(MessagePackError) -> Bool {
    guard !isEmpty else { return false }
    let people = fields.people
    for index in people.indices {
      guard let person = try PersonHash.hash(people[index], in: payload, by: key) else { continue }
      if leavesOut(person, at: place, timestamp: fields.timestamp, isAddressed: isAddressed) {
        return true
      }
    }
    return false
  }

  /// Puts back what was stored.
  mutating func restore(_ entry: Entry) { insert(entry) }

  /// All of it is stored.
  public mutating func markSaved() { unsaved.removeAll() }

  /// All of it is to be stored again: the tables are new.
  public mutating func markUnsaved() { unsaved = order.compactMap { entries[$0] } }
}
