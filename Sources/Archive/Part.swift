public import BusProtocol

/// One file of the archive, as the catalogue describes it.
///
/// The parts of an archive hold ordered ranges of positions that do not overlap; an event is in exactly
/// one of them. A file never changes: what takes its place has another name.
public struct Part: Hashable, Sendable {
  /// The catalogue's number; 0 until it has one.
  public var id: Int64 = 0
  /// Below the archive's directory: `date=2026-11-30/hour=08/part-1-0-99.ndjson.zst`.
  public var path: String
  public var epoch: UInt32
  /// Offset of its first and of its last event. Offsets between them may be absent.
  public var first: UInt64
  public var last: UInt64
  /// The offsets that were decided for it, whether they became lines or not: nothing in here comes into
  /// another part. Those of neighbours may leave offsets between them that nobody decided.
  public var covered: ClosedRange<UInt64>
  /// Events, which is lines.
  public var count: UInt64
  /// Bytes of the file, and of its lines.
  public var bytes: UInt64
  public var rawBytes: UInt64
  /// SHA-256 of the file.
  public var sha256: [UInt8]
  /// Earliest and latest `timestamp` of its events, nanoseconds since 1970.
  public var timestamps: ClosedRange<Int64>
  /// Earliest and latest journal time: when the broker took them.
  public var times: ClosedRange<Int64>
  /// When the file was finished.
  public var created: Int64

  /// - Parameter covered: nil: from `first` to `last`.
  public init(
    path: String, epoch: UInt32, first: UInt64, last: UInt64, count: UInt64, bytes: UInt64,
    rawBytes: UInt64, sha256: [UInt8], timestamps: ClosedRange<Int64>, times: ClosedRange<Int64>,
    created: Int64, covered: ClosedRange<UInt64>? = nil
  ) {
    self.path = path
    self.epoch = epoch
    self.first = first
    self.last = last
    self.count = count
    self.bytes = bytes
    self.rawBytes = rawBytes
    self.sha256 = sha256
    self.timestamps = timestamps
    self.times = times
    self.created = created
    self.covered = covered ?? first...last
  }

  public var coveredPositions: ClosedRange<Position> {
    Position(
      epoch: epoch, offset: covered.lowerBound)...Position(epoch: epoch, offset: covered.upperBound)
  }
  public var firstPosition: Position { Position(epoch: epoch, offset: first) }
  public var lastPosition: Position { Position(epoch: epoch, offset: last) }
}

/// How many events of one name a part holds. Names are bytes: two spellings of one character are two.
public struct NameCount: Hashable, Sendable {
  public var name: [UInt8]
  public var count: UInt64

  public init(name: [UInt8], count: UInt64) {
    self.name = name
    self.count = count
  }
}

/// A finished file with all that the catalogue keeps about it.
public struct NewPart: Hashable, Sendable {
  public var part: Part
  public var names: [NameCount]
  public var people: PeopleIndex

  public init(part: Part, names: [NameCount], people: PeopleIndex) {
    self.part = part
    self.names = names
    self.people = people
  }
}
