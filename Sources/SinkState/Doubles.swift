public import BusProtocol
public import Hashing
internal import Primitives

/// Finds events that come a second time.
///
/// An event is a double if one of the same name and messageId was kept at most `horizon` offsets before;
/// so what is a double depends on the journal's order alone, and every sink that sees the same journal
/// finds the same ones. Events without a messageId, or with an empty one, always count. The name and id
/// are compared by a keyed hash of 128 bits, so that no sender can make two events meet.
///
/// A double that says something else than the event that was kept is a double too; such conflicts are
/// counted apart, and the latest are listed.
///
/// About 100 ns an event. Memory grows with what was kept within the horizon, to 138 MB at 4,000,000.
public struct Doubles: Sendable {
  public static let defaultHorizon = 4_000_000
  public static let largestHorizon = 16_000_000
  /// How many conflicts are listed.
  public static let listedConflicts = 100

  public enum Verdict: Hashable, Sendable {
    /// To be kept; from now on another of its kind is a double.
    case new
    case double
    /// A double whose content is another.
    case conflict
  }

  /// A double with other content.
  public struct Conflict: Hashable, Sendable {
    public var place: Position
    public var name: [UInt8]
    /// Its first 200 bytes.
    public var messageId: [UInt8]

    public init(place: Position, name: [UInt8], messageId: [UInt8]) {
      self.place = place
      self.name = name
      self.messageId = messageId
    }
  }

  public let horizon: Int
  private let key: KeyedHash
  private(set) var ring: DoubleRing
  private var index: DoubleIndex
  /// The highest offset that was checked.
  private(set) var latest: UInt64 = 0
  private var scratch: [UInt8] = []
  /// Entries from this serial on are not stored yet.
  private(set) var unsaved: UInt64 = 0
  /// Oldest first.
  public internal(set) var conflicts: [Conflict] = []
  public internal(set) var conflictCount: UInt64 = 0
  private(set) var savedConflicts: UInt64 = 0

  /// - Parameters:
  ///   - key: the sink's own; stored entries are of no use without it.
  ///   - horizon: 1 to 16,000,000.
  public init(key: KeyedHash, horizon: Int = Doubles.defaultHorizon) {
    precondition((1...Self.largestHorizon).contains(horizon), "a horizon of \(horizon) offsets")
    self.key = key
    self.horizon = horizon
    ring = DoubleRing(capacity: horizon)
    index = DoubleIndex(slots: horizon)
  }

  /// Events remembered.
  public var count: Int { ring.live.count }
  public var memoryBytes: Int { ring.bytes + index.bytes }

  /// What an event is known by; nil without a messageId, and then it is never a double.
  ///
  /// Looking for it misses the cache. Who has other work on the event asks for this first, does that
  /// work, and then decides.
  public mutating func identity(
    _ fields: EventFields, of payload: RawSpan, name: RawSpan
  ) -> Hash128? {
    guard !fields.messageId.isEmpty else { return nil }
    let hash = hash(name, payload.extracting(fields.messageId))
    index.prefetch(hash)
    return hash
  }

  /// Decides about the next event of the journal.
  public mutating func check(
    _ fields: EventFields, of payload: RawSpan, name: RawSpan, at place: Position
  ) -> Verdict {
    let identity = identity(fields, of: payload, name: name)
    return check(identity, fields, of: payload, name: name, at: place)
  }

  /// The same with the event's `identity`.
  public mutating func check(
    _ identity: Hash128?, _ fields: EventFields, of payload: RawSpan, name: RawSpan,
    at place: Position
  ) -> Verdict {
    guard let hash = identity else { return .new }
    let messageId = payload.extracting(fields.messageId)
    let verdict = check(hash, content: fields.content, at: place.offset)
    if verdict == .conflict {
      conflictCount += 1
      conflicts.append(
        Conflict(
          place: place, name: name.copied(),
          messageId: messageId.extracting(..<min(200, messageId.byteCount)).copied()))
      if conflicts.count > Self.listedConflicts { conflicts.removeFirst() }
    }
    return verdict
  }

  private mutating func hash(_ name: RawSpan, _ messageId: RawSpan) -> Hash128 {
    scratch.removeAll(keepingCapacity: true)
    scratch.append(name)
    // No name has a NUL in it, so no two pairs give the same bytes.
    scratch.append(0)
    scratch.append(messageId)
    return unsafe key.hash(scratch.span.bytes)
  }

  private mutating func check(_ hash: Hash128, content: UInt32, at offset: UInt64) -> Verdict {
    expire(at: offset)
    if let found = index.find(hash, { ring[slot: $0].hash == hash }) {
      return ring[slot: found].content == content ? .double : .conflict
    }
    let entry = DoubleEntry(
      hash: hash, content: content, offset: UInt32(truncatingIfNeeded: offset))
    if !keep(entry) {
      // Better to know none than to be of no use at all.
      removeAll()
      _ = keep(entry)
    }
    return .new
  }

  /// Forgets what is further back than the horizon. An epoch may begin at an offset that lies further
  /// back than what is kept: that stays, as what it gives again was kept already.
  private mutating func expire(at offset: UInt64) {
    if offset > latest, offset - latest > UInt64(horizon) { removeAll() }
    latest = max(latest, offset)
    let low = UInt32(truncatingIfNeeded: offset)
    while !ring.live.isEmpty {
      let first = ring[ring.live.lowerBound]
      guard Int32(bitPattern: low &- first.offset) > horizon else { return }
      removeFirst(first)
    }
  }

  /// - Returns: false when there is no place for it among what was restored from a damaged file.
  private mutating func keep(_ entry: DoubleEntry) -> Bool {
    // Full only where offsets went back; the oldest goes then.
    if ring.isFull { removeFirst(ring[ring.live.lowerBound]) }
    let slot = ring.append(entry)
    while !index.insert(entry.hash, slot: slot) {
      guard fillAgain() else { return false }
    }
    return true
  }

  /// How many entries ahead the index's places are brought near, where many follow each other.
  private static let ahead: UInt64 = 8

  private mutating func removeFirst(_ first: DoubleEntry) {
    index.remove(first.hash, slot: ring.slot(ring.live.lowerBound))
    ring.removeFirst()
    let next = ring.live.lowerBound + Self.ahead
    if next < ring.live.upperBound { index.prefetch(ring[next].hash) }
  }

  private mutating func fillAgain() -> Bool {
    repeat {
      guard index.canGrow else { return false }
      index.grow()
    } while !fill()
    return true
  }

  /// Puts in all but the last entry, which is about to be.
  private mutating func fill() -> Bool {
    let live = ring.live.dropLast()
    for serial in live {
      let next = serial + Self.ahead
      if next < live.upperBound { index.prefetch(ring[next].hash) }
      guard index.insert(ring[serial].hash, slot: ring.slot(serial)) else { return false }
    }
    return true
  }

  private mutating func removeAll() {
    ring.restart(at: ring.live.upperBound)
    index = DoubleIndex(slots: horizon)
  }
}

// How the tables store and restore it: DoublesTables.swift.
extension Doubles {
  /// All of it is stored.
  public mutating func markSaved() {
    unsaved = ring.live.upperBound
    savedConflicts = conflictCount
  }

  /// Begins with entries whose first has this serial.
  mutating func restore(from serial: UInt64) { ring.restart(at: serial) }

  /// - Returns: false for what cannot be an entry.
  mutating func restore(_ entry: DoubleEntry) -> Bool { keep(entry) }

  mutating func finishRestoring(latest offset: UInt64) { latest = max(latest, offset) }
}
