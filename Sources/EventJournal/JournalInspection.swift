internal import Primitives

/// What ``Journal/info(_:)`` tells.
public struct JournalInfo: Hashable, Sendable {
  public var segments: [JournalSegment]
  public var epochs: [JournalEpoch]
  /// From the earliest offset to the head.
  public var offsets: Range<UInt64>
  /// Of all segment files.
  public var byteCount: Int
  /// Whether the last record says that the journal was closed cleanly.
  public var isClosed: Bool
  /// What the next open will say of the newest segment.
  public var damages: [JournalDamage]
}

/// What ``Journal/verify(_:)`` found.
public struct JournalVerification: Hashable, Sendable {
  public var segments = 0
  public var batches = 0
  public var events: UInt64 = 0
  public var byteCount = 0
  public var offsets: Range<UInt64> = 0..<0
  /// Offsets whose events an earlier `repair` gave up.
  public var lost: UInt64 = 0
  /// All damage, oldest offset first. Empty: every event can be read.
  public var damages: [JournalDamage] = []
  /// An unsynced tail, which the next open cuts: not damage, and normal beside a running broker.
  public var unsyncedTail: JournalDamage?
}

extension Journal {
  /// Whether there is a journal at all, whole or damaged.
  public static func isThere(_ storage: Storage) throws(JournalError) -> Bool {
    try !SegmentFiles(storage).names().isEmpty
  }

  /// Describes a journal without changing or locking it, also beside a running broker. Reads the heads
  /// of all segments and the whole newest one. Nil when there is no journal.
  public static func info(_ storage: Storage) throws(JournalError) -> JournalInfo? {
    let inspection = try JournalInspection(storage)
    guard let newest = inspection.segments.last else { return nil }
    let survey = try SegmentSurvey(newest.header, in: newest.file)
    let segments = inspection.described(head: survey.end.offset, lastTime: survey.end.time)
    return JournalInfo(
      segments: segments, epochs: survey.header.epochs + survey.epochs,
      offsets: inspection.segments[0].header.offset..<survey.end.offset,
      byteCount: segments.reduce(0) { $0 + $1.byteCount }, isClosed: survey.isClosed,
      damages: inspection.damages + survey.damages)
  }

  /// Reads everything and names all damage, without changing or locking anything; also beside a running
  /// broker. About 1 GB/s from the page cache.
  public static func verify(_ storage: Storage) throws(JournalError) -> JournalVerification {
    let inspection = try JournalInspection(storage)
    var found = JournalVerification()
    found.damages = inspection.damages
    for (at, segment) in inspection.segments.enumerated() {
      let next = at + 1 < inspection.segments.count ? inspection.segments[at + 1].header : nil
      let survey = try SegmentSurvey(segment.header, in: segment.file)
      found.add(survey)
      if let damage = try inspection.snapshotDamage(segment) { found.damages.append(damage) }
      if at == 0 { found.offsets = segment.header.offset..<survey.lastOffset }
      found.offsets = found.offsets.lowerBound..<survey.lastOffset
      if let next {
        found.damages += survey.damages + survey.endDamage(before: next.offset)
      } else if let first = survey.damages.first, first.offset >= survey.synced {
        found.unsyncedTail = first
        found.offsets = found.offsets.lowerBound..<survey.end.offset
      } else {
        found.damages += survey.damages
      }
    }
    found.damages.sort { ($0.offset, $0.position) < ($1.offset, $1.position) }
    return found
  }
}

extension JournalVerification {
  fileprivate mutating func add(_ survey: SegmentSurvey) {
    segments += 1
    batches += survey.batches
    events += survey.events
    lost += survey.lost
    byteCount += survey.size
  }
}

extension SegmentSurvey {
  /// What is wrong where this segment ends and the next begins.
  func endDamage(before next: UInt64) -> [JournalDamage] {
    guard lastOffset != next else { return [] }
    // A damaged end of the file is named already.
    if lastOffset < next, damages.last.map({ $0.resumesAt == nil }) ?? false { return [] }
    return [
      JournalDamage(
        file: header.name, position: size, length: 0, offset: min(lastOffset, next),
        resumesAt: next, reason: lastOffset < next ? .endsEarly : .overlap)
    ]
  }
}

/// The segment files with heads that check, and the damage of the others.
struct JournalInspection<Storage: JournalStorage> {
  struct Found {
    var header: SegmentHeader
    var file: Storage.File
    var size: Int
  }

  private(set) var segments: [Found] = []
  private(set) var damages: [JournalDamage] = []
  private let files: SegmentFiles<Storage>

  init(_ storage: Storage) throws(JournalError) {
    files = SegmentFiles(storage)
    for (offset, name) in try files.names() {
      let file: Storage.File
      let size: Int
      do {
        file = try storage.open(name, forWriting: false)
        size = try file.size()
      } catch {
        // Beside a running broker retention deletes the oldest file at any time.
        guard segments.isEmpty, try !files.names().contains(where: { $0.name == name }) else {
          throw .system(error)
        }
        continue
      }
      switch try files.head(of: file, name: name) {
      case .checks(let header): segments.append(Found(header: header, file: file, size: size))
      case .damaged:
        damages.append(
          JournalDamage(
            file: name, position: 0, length: size, offset: offset, resumesAt: nil,
            reason: .fileHeader))
      }
    }
  }

  func described(head: UInt64, lastTime: Int64) -> [JournalSegment] {
    segments.indices.map { at in
      let next = at + 1 < segments.count ? segments[at + 1].header : nil
      return JournalSegment(
        segments[at].header, byteCount: segments[at].size, end: next?.offset ?? head,
        lastTime: next?.time ?? lastTime)
    }
  }

  func snapshotDamage(_ segment: Found) throws(JournalError) -> JournalDamage? {
    let header = segment.header
    guard !header.snapshotIsVoid, try files.snapshot(of: header, in: segment.file) == nil else {
      return nil
    }
    return JournalDamage(
      file: header.name, position: header.snapshotPosition, length: header.snapshotLength,
      offset: header.offset, resumesAt: header.offset, reason: .snapshot)
  }
}
