internal import BusProtocol
internal import Hashing
internal import Primitives

/// One part being copied without some persons' events: which lines go, and what the catalogue will say of
/// the rest. No I/O.
struct PartErasure {
  let part: Part
  private let erasures: [Erasure]
  private var lines: LinePeople
  private var first: Position?
  private var last: Position?
  private var timestamps: ClosedRange<Int64>?
  private var people = PeopleSet()
  private var erasedNames: [[UInt8]: UInt64] = [:]
  private(set) var kept: UInt64 = 0
  /// By the request, each event counted for the first one that it falls under.
  private(set) var erased: [Int64: UInt64] = [:]

  init(_ part: Part, _ erasures: [Erasure], key: KeyedHash) {
    self.part = part
    self.erasures = erasures
    lines = LinePeople(key: key)
  }

  enum Verdict { case keep, erase, unreadable }

  var erasedCount: UInt64 { erased.values.reduce(0, +) }

  /// - Parameter line: without its newline.
  mutating func judge(_ line: RawSpan) -> Verdict {
    guard let position = unsafe line.withUnsafeBytes({ unsafe LineTail.position($0) }),
      lines.read(line)
    else { return .unreadable }
    let people = lines.people
    let erasure = erasures.first { position < $0.place && people.contains($0.person) }
    if let erasure {
      erased[erasure.id, default: 0] += 1
      erasedNames[lines.topic(line), default: 0] += 1
      return .erase
    }
    kept += 1
    first = first ?? position
    last = position
    let time = lines.timestamp
    timestamps =
      timestamps.map { min($0.lowerBound, time)...max($0.upperBound, time) } ?? time...time
    for person in people { self.people.insert(person) }
    return .keep
  }

  /// The new part's entry; nil when nothing is left of it.
  ///
  /// - Parameter names: what the catalogue has of the old one.
  func entry(_ file: FinishedFile, names: [NameCount], created: Int64) -> NewPart? {
    guard let first, let last, let timestamps else { return nil }
    let revision = ArchiveNames.revision(of: part.path) + 1
    let name = ArchiveNames.part(
      epoch: part.epoch, first: first.offset, last: last.offset, revision: revision)
    // When its events arrived the lines do not say: the old bounds hold.
    let new = Part(
      path: "\(file.folder)/\(name)", epoch: part.epoch, first: first.offset, last: last.offset,
      count: kept, bytes: file.size.bytes, rawBytes: file.size.rawBytes, sha256: file.sha256,
      timestamps: timestamps, times: part.times, created: created,
      covered: part.covered)
    let left = names.compactMap { entry -> NameCount? in
      let gone = erasedNames[entry.name] ?? 0
      return entry.count > gone ? NameCount(name: entry.name, count: entry.count - gone) : nil
    }
    return NewPart(part: new, names: left, people: people.index)
  }
}
