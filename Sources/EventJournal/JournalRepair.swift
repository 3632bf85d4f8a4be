internal import Primitives

/// What ``Journal/repair(_:now:)`` did.
public struct JournalRepairReport: Hashable, Sendable {
  /// Damage that was taken out.
  public var repaired: [JournalDamage] = []
  /// Offsets whose events are gone, in order. They are not given again.
  public var lost: [Range<UInt64>] = []
  /// Files beside the segments that hold what was removed, as it was.
  public var sideFiles: [String] = []
  /// Where a newest segment was that could not be used: events from here on are gone too, and nothing
  /// tells how many.
  public var lostFrom: UInt64?
  /// A snapshot had to be given up: the next open reads more than one segment, and if none before it
  /// has a snapshot, producers and names that were idle since the earliest offset start again.
  public var snapshotsVoided = 0
  /// The epoch that begins at the head, since somebody may have seen what is lost.
  public var epoch: JournalEpoch?
}

extension Journal {
  /// Takes the damage out, so that `open` and readers go on without it. No broker may run.
  ///
  /// Damaged bytes are first copied to a file `damaged-…` beside the segments. Between records that
  /// check, they are then replaced by a record that says which offsets are lost: all that can still be
  /// read stays readable, at its offset. A segment whose head does not check is set aside whole.
  /// Stopped at any point, it can be run again.
  /// - Throws: `.locked`, `.newerFormat`, `.system`, `.diskFull`; `.damaged` when two segments overlap,
  ///   which only a foreign hand can bring about and only a backup can undo.
  public static func repair(_ storage: Storage, now: Int64) throws(JournalError)
    -> JournalRepairReport
  {
    let opening = JournalOpening(
      storage: storage, configuration: JournalConfiguration(durability: .fsync), now: now)
    // Held to the end of the repair.
    let lock = try opening.takeLock()
    var repair = JournalRepair(storage: storage, now: now)
    try repair.run()
    withExtendedLifetime(lock) {}
    return repair.report
  }
}

/// The steps of a repair.
struct JournalRepair<Storage: JournalStorage> {
  let storage: Storage
  let now: Int64
  var report = JournalRepairReport()

  init(storage: Storage, now: Int64) {
    self.storage = storage
    self.now = now
  }

  mutating func run() throws(JournalError) {
    let found = try JournalInspection(storage)
    try setAside(found.damages)
    let aside = found.damages.map(\.offset)
    guard let first = found.segments.first, let newest = found.segments.last else {
      if let last = aside.last { try beginAgain(at: last) }
      return
    }
    if let last = aside.last, last > newest.header.offset { report.lostFrom = last }
    // Before the first segment that is left nothing can say what is lost: retention's edge moves.
    if let lowest = aside.first, lowest < first.header.offset {
      note(lowest..<first.header.offset)
    }
    for (at, segment) in found.segments.enumerated() {
      let next = at + 1 < found.segments.count ? found.segments[at + 1].header.offset : nil
      try voidSnapshot(of: segment, found)
      try mend(segment.header, next: next ?? report.lostFrom)
    }
    try synchronizeDirectory()
    if !report.lost.isEmpty || report.lostFrom != nil { try beginEpoch(in: newest.header) }
  }

  // MARK: Whole files

  /// Renames segments without a usable head.
  private mutating func setAside(_ damages: [JournalDamage]) throws(JournalError) {
    for damage in damages {
      let name = try sideName(damage)
      try call { () throws(SystemError) in try storage.rename(damage.file, to: name) }
      report.sideFiles.append(name)
      report.repaired.append(damage)
    }
  }

  /// No segment is left: a new one begins where the last one said it did.
  private mutating func beginAgain(at offset: UInt64) throws(JournalError) {
    let epoch = JournalEpoch(
      number: JournalOpening<Storage>.epoch(after: 0, at: now), firstOffset: offset)
    let header = SegmentHeader(
      segment: .random(in: 1 ... .max), offset: offset, time: now, epochs: [epoch],
      durability: .fsync)
    _ = try SegmentFiles(storage).make(header, snapshot: [])
    report.lostFrom = offset
    report.epoch = epoch
  }

  /// Marks a damaged snapshot as void, in the same bytes.
  private mutating func voidSnapshot(
    of segment: JournalInspection<Storage>.Found, _ found: JournalInspection<Storage>
  ) throws(JournalError) {
    guard let damage = try found.snapshotDamage(segment) else { return }
    var header = segment.header
    header.snapshotIsVoid = true
    let head = header.encoded()
    let file = try open(header.name)
    // A snapshot that the file does not even hold: filler, so that records can follow.
    if segment.size < header.recordsPosition {
      try copyAside(damage, length: segment.size - damage.position, of: file)
      try call { () throws(SystemError) in try file.truncate(to: header.recordsPosition) }
    }
    try call { () throws(SystemError) in
      try file.write(head, at: 0)
      try file.synchronize()
    }
    report.snapshotsVoided += 1
    report.repaired.append(damage)
  }

  // MARK: Records

  /// Takes the damage out of one segment, up to `next`, where the following one begins.
  private mutating func mend(_ header: SegmentHeader, next: UInt64?) throws(JournalError) {
    let file = try open(header.name)
    let survey = try SegmentSurvey(header, in: file)
    if let next, survey.lastOffset > next {
      guard let overlap = survey.endDamage(before: next).first else { return }
      throw .damaged(overlap)
    }
    let end = next ?? max(survey.synced, survey.lastOffset)
    var wasCut = false
    for broken in survey.breaks where !wasCut {
      let damage = broken.damage
      let isTail = next == nil && damage.offset >= survey.synced
      report.repaired.append(damage)
      if !isTail, let resumes = damage.resumesAt, LostRange.fits(damage, to: resumes) {
        try copyAside(damage, length: damage.length, of: file)
        try fill(broken, header, to: resumes, in: file)
      } else {
        try copyAside(damage, length: survey.size - damage.position, of: file)
        try call { () throws(SystemError) in try file.truncate(to: damage.position) }
        if !isTail { try append(broken, header, to: end, in: file) }
        wasCut = true
      }
    }
    if !wasCut, survey.lastOffset < end { try appendMissing(survey, to: end, in: file) }
    try call { () throws(SystemError) in try file.synchronize() }
  }

  /// Replaces the bytes of `broken` by records that say what is lost.
  private mutating func fill(
    _ broken: SegmentSurvey.Break, _ header: SegmentHeader, to resumes: UInt64,
    in file: Storage.File
  ) throws(JournalError) {
    var position = broken.damage.position
    var left = broken.damage.length
    var lost = LostRange(broken.damage.offset..<resumes, broken, header)
    while left > 0 {
      // The largest record, unless it would leave less than a header behind it.
      var size = min(left, RecordHeader.byteCount + RecordHeader.maximumBodyBytes)
      if left > size, left - size < RecordHeader.byteCount { size -= RecordHeader.byteCount }
      let bytes = lost.next(bodyLength: size - RecordHeader.byteCount, takesAll: true)
      try write(bytes, at: position, in: file)
      position += size
      left -= size
    }
    note(broken.damage.offset..<resumes)
  }

  /// Puts the loss behind the last record.
  private mutating func append(
    _ broken: SegmentSurvey.Break, _ header: SegmentHeader, to end: UInt64, in file: Storage.File
  ) throws(JournalError) {
    guard end > broken.damage.offset else { return }
    var lost = LostRange(broken.damage.offset..<end, broken, header)
    var position = broken.damage.position
    while !lost.isEmpty {
      try write(lost.next(bodyLength: 0, takesAll: false), at: position, in: file)
      position += RecordHeader.byteCount
    }
    note(broken.damage.offset..<end)
  }

  private mutating func appendMissing(
    _ survey: SegmentSurvey, to end: UInt64, in file: Storage.File
  ) throws(JournalError) {
    let damage = JournalDamage(
      file: survey.header.name, position: survey.size, length: 0, offset: survey.lastOffset,
      resumesAt: end, reason: .endsEarly)
    let last = SegmentSurvey.Break(
      damage: damage, epoch: survey.lastEpoch, time: survey.lastTime, nextEpoch: nil)
    report.repaired.append(damage)
    try append(last, survey.header, to: end, in: file)
  }

  private mutating func note(_ range: Range<UInt64>) {
    if !range.isEmpty { report.lost.append(range) }
  }

  /// The epoch that says so to everybody who saved a place.
  private mutating func beginEpoch(in header: SegmentHeader) throws(JournalError) {
    let file = try open(header.name)
    let survey = try SegmentSurvey(header, in: file)
    let epoch = JournalEpoch(
      number: JournalOpening<Storage>.epoch(after: survey.lastEpoch, at: now),
      firstOffset: survey.lastOffset)
    let mark = RecordHeader(
      bodyLength: 0, kind: .mark, flags: [.epochBegins], segment: header.segment,
      offset: survey.lastOffset, count: 0, epoch: epoch.number,
      time: max(survey.lastTime, now), synced: survey.lastOffset)
    try write(mark.encoded(), at: survey.size, in: file)
    try call { () throws(SystemError) in try file.synchronize() }
    report.epoch = epoch
  }
}
