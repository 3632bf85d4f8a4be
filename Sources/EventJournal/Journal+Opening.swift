internal import Primitives

extension Journal {
  /// Opens the journal for writing, after a crash as after a clean close; makes one if there is none.
  ///
  /// Takes the lock of the directory. Reads the newest segment only: 128 MiB take about 0.1 s when they
  /// are cached. Let S be the highest `synced` of any record in it that checks: damage at or behind S is
  /// a tail that was never on the disk, and is cut off with all that follows it; damage before S stops.
  /// `now` is nanoseconds since 1970.
  /// - Throws: `.locked`, `.damaged` (then ``repair(_:now:)`` or a backup helps), `.newerFormat`,
  ///   `.diskFull`, `.system`. Nothing that checks was changed.
  public static func open(
    _ storage: Storage, configuration: JournalConfiguration, now: Int64
  ) throws(JournalError) -> JournalRecovery<Storage> {
    try JournalOpening(storage: storage, configuration: configuration, now: now).run()
  }
}

/// The steps of an open.
struct JournalOpening<Storage: JournalStorage> {
  let storage: Storage
  let configuration: JournalConfiguration
  let now: Int64
  private var files: SegmentFiles<Storage> { SegmentFiles(storage) }

  typealias Recovery = JournalRecovery<Storage>

  init(storage: Storage, configuration: JournalConfiguration, now: Int64) {
    self.storage = storage
    self.configuration = configuration
    self.now = now
  }

  func run() throws(JournalError) -> Recovery {
    let lock = try takeLock()
    var segments = try listSegments()
    try removeUnfinished()
    var isNew = false
    if segments.isEmpty {
      segments = [try makeFirst()]
      isNew = true
    }
    let newest = segments[segments.count - 1]
    let file = try open(newest)
    let survey = try SegmentSurvey(newest.header, in: file) { newest.note($0) }
    let cut = try cutTail(survey, of: file)
    let (snapshot, replayFrom) = try findSnapshot(segments)
    let isCopy = try isCopy()
    let reason = reasonForEpoch(survey, isNew: isNew, isCopy: isCopy)
    let start = try beginSession(survey, in: file, reason: isNew ? nil : reason)
    if isCopy { try claim() }
    newest.setByteCount(start.filePosition)
    let catalog = SegmentCatalog(segments)
    return Recovery(
      core: JournalCore(configuration: configuration, start: start),
      writer: JournalWriter(
        storage: storage, durability: configuration.durability, catalog: catalog, file: file,
        segment: newest, lock: lock),
      journal: Journal(storage: storage, catalog: catalog), snapshot: snapshot,
      replayFrom: replayFrom, cut: cut, newEpoch: reason)
  }

  func takeLock() throws(JournalError) -> Storage.File {
    do {
      switch try storage.lock() {
      case .held(let file): return file
      case .busy(let holder): throw JournalError.locked(directory: storage.location, holder: holder)
      }
    } catch let error as JournalError {
      throw error
    } catch let error as SystemError {
      throw .from(error)
    } catch {
      preconditionFailure("an error of a third kind: \(error)")
    }
  }

  private func listSegments() throws(JournalError) -> [Segment<Storage.File>] {
    var segments: [Segment<Storage.File>] = []
    for (offset, name) in try files.names() {
      let size: Int
      let file: Storage.File
      do {
        file = try storage.open(name, forWriting: false)
        size = try file.size()
      } catch { throw .system(error) }
      guard case .checks(let header) = try files.head(of: file, name: name) else {
        throw .damaged(
          JournalDamage(
            file: name, position: 0, length: size, offset: offset, resumesAt: nil,
            reason: .fileHeader))
      }
      segments.append(Segment(header: header, byteCount: size))
    }
    return segments
  }

  /// Segments that a crash left half made: they never held a record.
  private func removeUnfinished() throws(JournalError) {
    do {
      for name in try storage.list()
      where name.hasSuffix(SegmentHeader.suffix + SegmentHeader.unfinishedSuffix) {
        try storage.remove(name)
      }
    } catch { throw .system(error) }
  }

  private func makeFirst() throws(JournalError) -> Segment<Storage.File> {
    let header = SegmentHeader(
      segment: .random(in: 1 ... .max), offset: 0, time: now,
      epochs: [JournalEpoch(number: Self.epoch(after: 0, at: now), firstOffset: 0)],
      durability: configuration.durability)
    _ = try files.make(header, snapshot: [])
    return Segment(header: header, byteCount: header.recordsPosition)
  }

  static func epoch(after last: UInt32, at now: Int64) -> UInt32 {
    precondition(last < .max, "no epoch is left")
    return max(last + 1, UInt32(clamping: now / 1_000_000_000))
  }

  private func open(_ segment: Segment<Storage.File>) throws(JournalError) -> Storage.File {
    do { return try storage.open(segment.header.name, forWriting: true) } catch {
      throw .system(error)
    }
  }

  private func cutTail(
    _ survey: SegmentSurvey, of file: Storage.File
  ) throws(JournalError) -> JournalCut? {
    guard let damage = survey.damages.first else { return nil }
    guard damage.offset >= survey.synced else { throw .damaged(damage) }
    do { try file.truncate(to: survey.end.position) } catch { throw .system(error) }
    return JournalCut(
      damage: damage, byteCount: survey.size - survey.end.position,
      records: survey.recordsBehindDamage)
  }

  /// The newest snapshot that is not void, and the offset at which it was taken.
  private func findSnapshot(
    _ segments: [Segment<Storage.File>]
  ) throws(JournalError) -> ([UInt8], UInt64) {
    for segment in segments.reversed() where !segment.header.snapshotIsVoid {
      guard let bytes = try files.snapshot(of: segment.header, in: try open(segment)) else {
        throw .damaged(
          JournalDamage(
            file: segment.header.name, position: segment.header.snapshotPosition,
            length: segment.header.snapshotLength, offset: segment.header.offset,
            resumesAt: segment.header.offset, reason: .snapshot))
      }
      return (bytes, segment.header.offset)
    }
    return ([], segments[0].header.offset)
  }

  private func reasonForEpoch(
    _ survey: SegmentSurvey, isNew: Bool, isCopy: Bool
  ) -> Recovery.NewEpochReason? {
    if isNew { return .newJournal }
    if !survey.isClosed, survey.durability != .fsync { return .crashed }
    if configuration.wentBack { return .wentBack }
    return isCopy ? .copied : nil
  }

  private func isCopy() throws(JournalError) -> Bool {
    do { return try storage.isCopy() } catch { throw .system(error) }
  }

  /// Only once the epoch's mark is on the disk: else a crash would forget that there was a copy.
  private func claim() throws(JournalError) {
    do {
      try storage.claim()
    } catch {
      // The next open begins an epoch more: no reason not to read the journal.
      guard error.isDiskFull else { throw .system(error) }
    }
  }

  /// Makes the end of the newest segment durable, with a mark when the session differs from the one
  /// before: so the next open knows what a crash of this one means.
  private func beginSession(
    _ survey: SegmentSurvey, in file: Storage.File, reason: Recovery.NewEpochReason?
  ) throws(JournalError) -> JournalCore.Start {
    var start = JournalCore.Start(
      head: survey.end.offset, epochs: survey.header.epochs + survey.epochs,
      lastTime: max(survey.end.time, survey.header.time), segment: survey.header.segment,
      segmentOffset: survey.header.offset, filePosition: survey.end.position,
      recordsPosition: survey.header.recordsPosition)
    // A process that was killed leaves its last writes in the cache and perhaps a name undone.
    do {
      try file.synchronize()
      try storage.synchronizeDirectory()
    } catch { throw .system(error) }
    let needsMark =
      reason != nil || configuration.durability != .fsync || survey.durability != .fsync
    guard needsMark else { return start }
    var flags: RecordHeader.Flags = [.opened, configuration.durability.flags]
    if reason != nil {
      flags.insert(.epochBegins)
      let number = Self.epoch(after: survey.end.epoch, at: now)
      start.epochs.append(JournalEpoch(number: number, firstOffset: start.head))
    }
    start.lastTime = max(start.lastTime, now)
    let mark = RecordHeader(
      bodyLength: 0, kind: .mark, flags: flags, segment: start.segment, offset: start.head,
      count: 0, epoch: start.epochs.last?.number ?? 0, time: start.lastTime, synced: start.head)
    try append(mark.encoded(), to: file, at: start.filePosition)
    start.filePosition += RecordHeader.byteCount
    return start
  }

  private func append(
    _ bytes: [UInt8], to file: Storage.File, at position: Int
  ) throws(JournalError) {
    do {
      try file.write(bytes, at: position)
    } catch {
      let failure = error
      do { try file.truncate(to: position) } catch { throw .system(error) }
      throw .from(failure)
    }
    do { try file.synchronize() } catch { throw .system(error) }
  }
}
