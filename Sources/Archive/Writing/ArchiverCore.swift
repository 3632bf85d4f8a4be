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
  /// Different ids of people: each takes memory until the part is entered.
  public var people = 500_000
  /// Bytes of its lines: the archiver commits at least every GiB, whatever compresses well.
  public var rawBytes: UInt64 = 1 << 30

  public init() {}
}

/// What becomes of each event, and where one part ends and the next begins. No I/O and no clock.
///
/// For each event: `admit`; on `.look` the shell makes its line and asks `isKept`, and if it is the line
/// goes into the part. On `.roll` it commits the open part and asks again. Between events it may `commit`
/// at any time.
struct ArchiverCore: Sendable {
  enum Admission: Equatable {
    /// Make its line, and ask on.
    case look
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
  /// Requests since the last commit.
  private(set) var requests: [ForgottenPeople.Entry] = []
  /// Ranges that the archive has already, where the cursor was put back: rising.
  private var archived: ArraySlice<ClosedRange<Position>> = []
  /// From here on all that came before the cursor was decided, and is in no other part.
  private var coveredFrom: Position
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
    coveredFrom = progress.cursor
  }

  mutating func admit(_ place: EventPlace, name: RawSpan, payload: RawSpan) -> Admission {
    if let frame, !belongs(place, to: frame) { return .roll }
    if !archived.isEmpty, isArchived(place.position) {
      progress.ledger.duplicate += 1
      return .leaveOut
    }
    return EventName.isForget(name) ? forget(payload, place) : .look
  }

  /// Decides about an event whose line was made; one that is kept belongs to the open part from now on.
  ///
  /// - Parameter places: where its fields stand, as its line's writer found them.
  mutating func isKept(
    _ place: EventPlace, name: RawSpan, payload: RawSpan, _ places: borrowing FieldPlaces
  ) -> Bool {
    let fields: EventFields
    do throws(MessagePackError) {
      fields = try EventFields(places, of: payload)
    } catch {
      refuse("\(error)")
      return false
    }
    guard isNew(fields, place, name: name, payload: payload) else { return false }
    keep(fields, place, name: name)
    return true
  }

  private mutating func isNew(
    _ fields: EventFields, _ place: EventPlace, name: RawSpan, payload: RawSpan
  ) -> Bool {
    let identity = doubles.identity(fields, of: payload, name: name)
    findPersons(fields, payload)
    if !forgotten.isEmpty, isForgotten(fields, place) {
      progress.ledger.forgotten += 1
      return false
    }
    guard
      doubles.check(identity, fields, of: payload, name: name, at: place.position) == .new
    else {
      progress.ledger.duplicate += 1
      return false
    }
    return true
  }

  private func isForgotten(_ fields: EventFields, _ place: EventPlace) -> Bool {
    persons.contains {
      forgotten.leavesOut(
        $0, at: place.position, timestamp: fields.timestamp, isAddressed: place.isAddressed)
    }
  }

  private mutating func findPersons(_ fields: EventFields, _ payload: RawSpan) {
    persons.removeAll(keepingCapacity: true)
    let values = fields.people
    for index in values.indices where !values[index].isEmpty {
      do throws(MessagePackError) {
        if let person = try PersonHash.hash(values[index], in: payload, by: forgotten.key) {
          persons.append(person)
        }
      } catch {
        // A value without JSON names nobody, and has no line.
        continue
      }
    }
  }

  private mutating func keep(_ fields: EventFields, _ place: EventPlace, name: RawSpan) {
    if part == nil { part = PartContents(place, timestamp: fields.timestamp) }
    if frame == nil { frame = PartFrame(place) }
    frame?.last = place.position.offset
    frame?.events += 1
    part?.add(place, name: name, timestamp: fields.timestamp)
    for person in persons { part?.add(person) }
    frame?.people = part?.people.count ?? 0
    progress.ledger.applied += 1
  }

  /// An event that has no line.
  mutating func refuse(_ reason: String) {
    progress.ledger.refused += 1
    refusal = reason
  }

  private mutating func forget(_ payload: RawSpan, _ place: EventPlace) -> Admission {
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
      && frame.people < limits.people
      && (archived.isEmpty || !(archived.first.map { place.position > $0.lowerBound } ?? false))
  }

  /// Whether the open part has grown to its limit.
  func isFull(_ size: PartSize) -> Bool {
    size.bytes >= limits.bytes || size.rawBytes >= limits.rawBytes
  }

  /// The offsets that the open part answers for: all since the one before it, up to the cursor, but nothing
  /// that the archive had already.
  var covered: ClosedRange<UInt64>? {
    guard let part else { return nil }
    var (first, last) = (part.first, part.last)
    if coveredFrom.epoch == part.epoch { first = min(first, coveredFrom.offset) }
    if progress.cursor.epoch == part.epoch { last = max(last, progress.cursor.offset &- 1) }
    if let next = archived.first?.lowerBound, next.epoch == part.epoch {
      last = max(part.last, min(last, next.offset &- 1))
    }
    return first...last
  }

  private mutating func isArchived(_ position: Position) -> Bool {
    while let range = archived.first, range.upperBound < position {
      archived.removeFirst()
      coveredFrom = Position(
        epoch: range.upperBound.epoch, offset: range.upperBound.offset &+ 1)
    }
    return archived.first?.contains(position) ?? false
  }
}

// The cursor.
extension ArchiverCore {
  /// Everything before `end` was decided.
  mutating func advance(to end: Position) { progress.advance(to: end) }

  /// The events from the cursor to `place` are gone.
  mutating func pass(gapTo place: Position) {
    progress.jump(to: place, .gap)
    coveredFrom = place
  }

  /// An operator moved the cursor. The open part is committed.
  mutating func seek(to place: Position, generation: UInt64) {
    progress.jump(to: place, .seek)
    coveredFrom = place
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
    // Without a part the next one answers for what was decided since the last.
    if part != nil { coveredFrom = progress.cursor }
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
  var people = 0

  init(_ place: EventPlace) {
    epoch = place.position.epoch
    last = place.position.offset
    let length: Int64 = 3_600_000_000_000
    let start = PartContents.hour(place.time) * length
    times = start..<start + length
  }
}
