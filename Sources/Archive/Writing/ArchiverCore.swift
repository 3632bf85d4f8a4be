internal import BusProtocol
internal import EventCodec
internal import EventModel
internal import Hashing
internal import Primitives
internal import SinkState

/// When a part is finished and another one begun.
public struct RollLimits: Hashable, Sendable {
  /// Bytes of the file.
  public var bytes: UInt64 = 64 << 20
  /// Since the part was begun.
  public var age: Duration = .seconds(300)
  public var events: UInt64 = 2_000_000
  /// Bytes of its lines: the archiver commits at least every GiB, whatever compresses well.
  public var rawBytes: UInt64 = 1 << 30

  public init() {}
}

/// What becomes of each event, and where one part ends and the next begins. No I/O and no clock.
///
/// For each event: `decide`; on `.keep` the shell writes the line and calls `keep`. On `.roll` it
/// commits the open part and asks again. Between events it may `commit` at any time.
struct ArchiverCore: Sendable {
  enum Decision: Equatable {
    /// Write it.
    case keep
    /// Something became of it already, and the ledger has it.
    case leaveOut
    /// It must not come into the open part.
    case roll
  }

  private(set) var progress: SinkProgress
  private(set) var doubles: Doubles
  private(set) var forgotten: ForgottenPeople
  private(set) var part: PartContents?
  /// What may come into the open part; beside it, since looking at it copies nothing.
  private var frame: PartFrame?
  private var limits: RollLimits
  /// Fields of the event that `decide` saw last.
  private(set) var fields = EventFields.none
  /// Requests since the last commit.
  private(set) var requests: [ForgottenPeople.Entry] = []
  /// Ranges that the archive has already, where the cursor was put back: rising.
  private var archived: ArraySlice<ClosedRange<Position>> = []
  private var persons: [Hash128] = []
  /// The last refusal, for the log.
  private(set) var refusal: String?

  init(
    progress: SinkProgress, doubles: Doubles, forgotten: ForgottenPeople, limits: RollLimits
  ) {
    self.progress = progress
    self.doubles = doubles
    self.forgotten = forgotten
    self.limits = limits
  }

  mutating func decide(_ place: EventPlace, name: RawSpan, payload: RawSpan) -> Decision {
    if let frame, !belongs(place, to: frame) { return .roll }
    if !archived.isEmpty, isArchived(place.position) {
      progress.ledger.duplicate += 1
      return .leaveOut
    }
    if EventName.isForget(name) { return forget(payload, place) }
    do throws(MessagePackError) {
      fields = try EventFields(reading: payload)
    } catch {
      refuse("\(error)")
      return .leaveOut
    }
    return judge(place, name: name, payload: payload)
  }

  private mutating func judge(
    _ place: EventPlace, name: RawSpan, payload: RawSpan
  ) -> Decision {
    let identity = doubles.identity(fields, of: payload, name: name)
    findPersons(payload)
    for person in persons
    where forgotten.leavesOut(
      person, at: place.position, timestamp: fields.timestamp, isAddressed: place.isAddressed)
    {
      progress.ledger.forgotten += 1
      return .leaveOut
    }
    guard
      doubles.check(identity, fields, of: payload, name: name, at: place.position) == .new
    else {
      progress.ledger.duplicate += 1
      return .leaveOut
    }
    return .keep
  }

  private mutating func findPersons(_ payload: RawSpan) {
    persons.removeAll(keepingCapacity: true)
    let values = fields.people
    for index in values.indices where !values[index].isEmpty {
      do throws(MessagePackError) {
        if let person = try PersonHash.hash(values[index], in: payload, by: forgotten.key) {
          persons.append(person)
        }
      } catch {
        // A value without JSON names nobody; the event itself is refused when its line is written.
        continue
      }
    }
  }

  /// The event that `decide` saw last is written.
  mutating func keep(_ place: EventPlace, name: RawSpan) {
    if part == nil { part = PartContents(place, timestamp: fields.timestamp) }
    if frame == nil { frame = PartFrame(place) }
    frame?.last = place.position.offset
    frame?.events += 1
    part?.add(place, name: name, timestamp: fields.timestamp)
    for person in persons { part?.add(person) }
    progress.ledger.applied += 1
  }

  /// The event that `decide` saw last has no JSON.
  mutating func refuse(_ reason: String) {
    progress.ledger.refused += 1
    refusal = reason
  }

  private mutating func forget(_ payload: RawSpan, _ place: EventPlace) -> Decision {
    do throws(MessagePackError) {
      let persons = try forgotten.forget(payload, at: place.position, time: place.time)
      for person in persons {
        requests.append(
          ForgottenPeople.Entry(person: person, place: place.position, time: place.time))
      }
      progress.ledger.applied += 1
    } catch {
      refuse("$forget: \(error)")
    }
    return .leaveOut
  }
}

// Where a part ends.
extension ArchiverCore {
  @inline(__always)
  private func belongs(_ place: EventPlace, to frame: PartFrame) -> Bool {
    place.position.epoch == frame.epoch && frame.times.contains(place.time)
      && place.position.offset > frame.last && frame.events < limits.events
      && (archived.isEmpty || !(archived.first.map { place.position > $0.lowerBound } ?? false))
  }

  /// Whether the open part has grown to its limit.
  func isFull(_ size: PartSize) -> Bool {
    size.bytes >= limits.bytes || size.rawBytes >= limits.rawBytes
  }

  private mutating func isArchived(_ position: Position) -> Bool {
    while let range = archived.first, range.upperBound < position { archived.removeFirst() }
    return archived.first?.contains(position) ?? false
  }
}

// The cursor.
extension ArchiverCore {
  /// Everything before `end` was decided.
  mutating func advance(to end: Position) { progress.advance(to: end) }

  /// The events from the cursor to `place` are gone.
  mutating func pass(gapTo place: Position) { progress.jump(to: place, .gap) }

  /// An operator moved the cursor. The open part is committed.
  mutating func seek(to place: Position, generation: UInt64) {
    progress.jump(to: place, .seek)
    progress.seekGeneration = generation
  }

  /// The archive has these ranges of positions already, from the cursor on: what lies in them was
  /// decided once.
  mutating func expect(_ ranges: [ClosedRange<Position>]) { archived = ranges[...] }

  /// All that was decided is in the catalogue.
  mutating func committed() {
    doubles.markSaved()
    forgotten.markSaved()
    requests.removeAll()
    part = nil
    frame = nil
  }

  mutating func set(_ limits: RollLimits) { self.limits = limits }
}

/// What may come into one part: an epoch, an hour, rising offsets.
private struct PartFrame {
  let epoch: UInt32
  /// Journal times of one hour.
  let times: Range<Int64>
  var last: UInt64
  var events: UInt64 = 0

  init(_ place: EventPlace) {
    epoch = place.position.epoch
    last = place.position.offset
    let length: Int64 = 3_600_000_000_000
    let start = PartContents.hour(place.time) * length
    times = start..<start + length
  }
}
