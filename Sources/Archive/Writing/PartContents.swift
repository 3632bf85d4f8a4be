public import BusProtocol
internal import Hashing
internal import Primitives

/// What the catalogue will say about a part that is being written.
struct PartContents: Sendable {
  let epoch: UInt32
  let first: UInt64
  /// Hours since 1970 of its first event's journal time: a part lies in one folder.
  let hour: Int64
  private(set) var last: UInt64
  private(set) var count: UInt64 = 0
  private var timestamps: ClosedRange<Int64>
  private var times: ClosedRange<Int64>
  private var names = ByteInterner()
  private var nameCounts: [UInt64] = []
  private(set) var people = PeopleSet()

  /// Begins with the event that is added next.
  init(_ place: EventPlace, timestamp: Int64) {
    epoch = place.position.epoch
    first = place.position.offset
    last = first
    hour = Self.hour(place.time)
    timestamps = timestamp...timestamp
    times = place.time...place.time
  }

  var firstPosition: Position { Position(epoch: epoch, offset: first) }

  static func hour(_ time: Int64) -> Int64 {
    let length: Int64 = 3_600_000_000_000
    return time >= 0 ? time / length : (time - length + 1) / length
  }

  mutating func add(_ place: EventPlace, name: RawSpan, timestamp: Int64) {
    last = place.position.offset
    count += 1
    if timestamp < timestamps.lowerBound { timestamps = timestamp...timestamps.upperBound }
    if timestamp > timestamps.upperBound { timestamps = timestamps.lowerBound...timestamp }
    if place.time < times.lowerBound { times = place.time...times.upperBound }
    if place.time > times.upperBound { times = times.lowerBound...place.time }
    let name = names.intern(name)
    if name == nameCounts.count { nameCounts.append(0) }
    nameCounts[name] += 1
  }

  mutating func add(_ person: Hash128) { people.insert(person) }

  /// The entry for the catalogue, once the file is finished.
  func entry(_ file: FinishedFile, covered: ClosedRange<UInt64>, created: Int64) -> NewPart {
    let name = ArchiveNames.part(epoch: epoch, first: first, last: last, revision: 0)
    let part = Part(
      path: "\(file.folder)/\(name)", epoch: epoch, first: first, last: last, count: count,
      bytes: file.size.bytes, rawBytes: file.size.rawBytes, sha256: file.sha256,
      timestamps: timestamps,
      times: times, created: created, covered: covered)
    let names = nameCounts.enumerated()
      .map { NameCount(name: self.names[$0.offset], count: $0.element) }
      .sorted { $0.name.lexicographicallyPrecedes($1.name) }
    return NewPart(part: part, names: names, people: people.index)
  }
}

/// Where an event stands in the journal, as the archiver sees it.
public struct EventPlace: Hashable, Sendable {
  public var position: Position
  /// Journal time, nanoseconds since 1970.
  public var time: Int64
  /// It came in a replay or an import.
  public var isAddressed: Bool

  public init(position: Position, time: Int64, isAddressed: Bool = false) {
    self.position = position
    self.time = time
    self.isAddressed = isAddressed
  }
}
