public import BusProtocol
internal import EventCodec
internal import Primitives
public import SinkState

/// Writes events to an archive, one part after another, and keeps cursor and ledger with them.
///
/// The order of a commit: the file is complete and synced under a temporary name; it gets its name, and
/// the folder is synced; then one transaction enters it with the cursor behind it. A process that dies
/// before that leaves a file that the next start removes, and a cursor before its events. After an error
/// nothing more may be done with a writer: open another, which reads the cursor anew.
///
/// It belongs to one thread, and its caller holds the archive's lock.
public struct ArchiveWriter: ~Copyable {
  private let directory: String
  private let limits: RollLimits
  private let horizon: Int
  let catalogue: Catalogue
  /// The catalogue's file, to see that the directory is still the one that was opened.
  let identity: FileSystem.Identity
  private(set) var core: ArchiverCore?
  private var writer: PartWriter?
  /// When the open part was begun; monotonic.
  private var opened: Int64 = 0
  private var size = PartSize()
  /// Of the event that is looked at.
  private var line: [UInt8] = []
  private var fields = FieldPlaces()
  /// Files of a killed archiver that were removed at the opening.
  public let removed: [String]
  public private(set) var partsWritten: UInt64 = 0
  public private(set) var bytesWritten: UInt64 = 0
  var forgetting = Forgetting()
  /// Called between the steps of a commit; a test throws there, as if the process died.
  var onStep: ((ArchiveStep) throws(ArchiveError) -> Void)?

  /// Opens the archive: makes the directory and the catalogue where they are missing, and removes what a
  /// killed archiver left.
  ///
  /// - Parameter memory: what the archiver knew when the directory failed under it; nil at its start.
  public init(
    _ configuration: ArchiverConfiguration, continuing memory: ArchiveMemory? = nil
  ) throws(ArchiveError) {
    let directory = configuration.directory
    let catalogue = try ArchiveMemory.open(directory, memory)
    let identity: FileSystem.Identity
    do throws(SystemError) {
      identity = try FileSystem.identity(directory + "/" + ArchiveNames.catalogue)
    } catch {
      throw ArchiveError(error)
    }
    let removed = try ArchiveCleanup.runUnlessMaintained(catalogue)
    let core = try Self.load(catalogue, configuration)
    self.directory = directory
    self.catalogue = catalogue
    self.identity = identity
    self.removed = removed
    self.core = core
    limits = configuration.limits
    horizon = configuration.horizon
  }

  private static func load(
    _ catalogue: borrowing Catalogue, _ configuration: ArchiverConfiguration
  ) throws(ArchiveError) -> ArchiverCore? {
    let contents = try catalogue.sinkContents(horizon: configuration.horizon)
    guard let progress = contents.progress else { return nil }
    var core = ArchiverCore(
      progress: progress, doubles: contents.doubles, forgotten: contents.forgotten,
      limits: configuration.limits)
    core.expect(try catalogue.ranges(from: progress.cursor))
    return core
  }

  /// Where it is, and what became of the events before; nil until `begin` for an archive that is new.
  public var progress: SinkProgress? { core?.progress }

  /// Begins a new archive: the first event will be the one at `start` or after.
  public mutating func begin(
    at start: Position, seekGeneration: UInt64
  ) throws(ArchiveError) {
    precondition(core == nil, "the archive has begun already")
    let contents = try catalogue.sinkContents(horizon: horizon)
    core = ArchiverCore(
      progress: SinkProgress(start: start, seekGeneration: seekGeneration),
      doubles: contents.doubles, forgotten: contents.forgotten, limits: limits)
    try commit()
  }

  /// Takes the next event of the journal.
  public mutating func take(
    _ place: EventPlace, name: RawSpan, payload: RawSpan
  ) throws(ArchiveError) {
    switch core?.admit(place, name: name, payload: payload) {
    case .look: try look(place, name: name, payload: payload)
    case .leaveOut: return
    case .roll:
      core?.advance(to: place.position)
      try commit()
      try take(place, name: name, payload: payload)
    case nil: preconditionFailure("the archive has not begun")
    }
  }

  private mutating func look(
    _ place: EventPlace, name: RawSpan, payload: RawSpan
  ) throws(ArchiveError) {
    line.removeAll(keepingCapacity: true)
    do throws(CodecError) {
      try CanonicalJSON.append(
        payload,
        CanonicalJSON.Additions(
          offset: place.position.offset, epoch: place.position.epoch, receivedAt: place.time),
        to: &line, noting: &fields)
    } catch {
      core?.refuse("\(error)")
      return
    }
    guard core?.isKept(place, name: name, payload: payload, fields) == true else { return }
    line.append(UInt8(ascii: "\n"))
    if writer == nil { try openPart(place) }
    writer?.append(line: line)
    if let size = try writer?.endLine() { self.size = size }
  }

  private mutating func openPart(_ place: EventPlace) throws(ArchiveError) {
    try adaptToSpace()
    let position = place.position
    writer = try PartWriter(
      directory: directory, folder: ArchiveNames.folder(ofTime: place.time),
      name: "\(ArchiveNames.partPrefix)\(position.epoch)-\(position.offset)")
    opened = SystemClock.monotonic()
    size = PartSize()
    try onStep?(.created)
  }

  /// On a disk that is nearly full parts are small, so that what still fits gets in: a quarter of what
  /// is left, since the catalogue grows too, and twice while a transaction is in its log. Their lines are no more
  /// than that either: the journal, which is often on the same disk, keeps the events until the part is entered.
  private mutating func adaptToSpace() throws(ArchiveError) {
    do throws(SystemError) {
      var limits = limits
      let share = max(64 << 10, try FileSystem.available(directory) / 4)
      limits.bytes = min(limits.bytes, share)
      limits.rawBytes = min(limits.rawBytes, max(1 << 20, share))
      core?.set(limits)
    } catch {
      throw ArchiveError(error)
    }
  }

  /// Everything before `end` has been taken.
  public mutating func advance(to end: Position) { core?.advance(to: end) }

  /// The events from the cursor to `place` are gone. No part reaches over them.
  public mutating func pass(gapTo place: Position) throws(ArchiveError) {
    try commit()
    core?.pass(gapTo: place)
  }

  /// An operator moved the cursor.
  public mutating func seek(to place: Position, generation: UInt64) throws(ArchiveError) {
    try commit()
    core?.seek(to: place, generation: generation)
    core?.expect(try catalogue.ranges(from: place))
  }

  /// Whether it is time to commit: the part has its size, or its age by the monotonic clock, or somebody
  /// asked to be forgotten.
  public func isDue(at now: Int64) -> Bool {
    guard let core else { return false }
    if !core.requests.isEmpty { return true }
    guard core.part != nil else { return false }
    return core.isFull(size) || now - opened >= limits.age.nanoseconds
  }

  /// Finishes the open part, if there is one, and enters it with the cursor.
  public mutating func commit() throws(ArchiveError) {
    guard core != nil else { return }
    let part = try finishPart()
    try checkDirectory()
    if let core { try catalogue.commit(core, part) }
    try onStep?(.catalogued)
    // Had the directory been taken away meanwhile, the transaction went where nobody finds it.
    try checkDirectory()
    if core?.requests.isEmpty == false { forgetting.begin() }
    core?.committed()
    if let part {
      partsWritten += 1
      bytesWritten += part.part.bytes
    }
  }

  private mutating func finishPart() throws(ArchiveError) -> NewPart? {
    guard let writer = writer.take() else { return nil }
    guard let contents = core?.part, let covered = core?.covered else {
      writer.discard()
      return nil
    }
    let file = try writer.finish()
    try onStep?(.finished)
    let entry = contents.entry(file, covered: covered, created: SystemClock.realtime())
    try file.publish(as: entry.part.path, in: directory)
    try onStep?(.published)
    return entry
  }

  private func checkDirectory() throws(ArchiveError) {
    do throws(SystemError) {
      let now = try FileSystem.identity(directory + "/" + ArchiveNames.catalogue)
      guard now == identity else {
        throw SystemError(call: "stat", code: SystemCode.absent, subject: directory)
      }
    } catch {
      throw ArchiveError(error)
    }
  }

  /// Gives the writer up after an error; what its open part takes of the disk is free at once.
  public mutating func abandon() { writer.take()?.discard() }

  var openPart: OpenPart? {
    guard let part = core?.part else { return nil }
    return OpenPart(
      first: part.firstPosition, events: part.count, size: size, opened: opened)
  }
}

/// The steps of writing a part, in order.
enum ArchiveStep: Sendable, CaseIterable {
  case created, finished, published, catalogued
}

/// Bytes of a part.
public struct PartSize: Hashable, Sendable {
  /// Of the file.
  public var bytes: UInt64 = 0
  /// Of its lines.
  public var rawBytes: UInt64 = 0
}

/// The part that is being written.
public struct OpenPart: Hashable, Sendable {
  public var first: Position
  public var events: UInt64
  /// Without the frame that is being filled.
  public var size: PartSize
  /// Monotonic.
  public var opened: Int64
}
