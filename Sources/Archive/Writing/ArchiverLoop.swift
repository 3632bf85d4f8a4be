internal import BusClient
internal import BusProtocol
internal import Primitives
internal import SinkState
internal import Synchronization

/// The archiver's thread: sessions with the bus, and the waiting between them while the directory cannot
/// be written.
struct ArchiverLoop: ~Copyable {
  /// How long a fault is waited out before the next try: it doubles from one to the other.
  private static let shortestWait = Duration.milliseconds(500)
  private static let longestWait = Duration.seconds(15)
  /// What a disk that was full must have again before anything is tried.
  private static let leastRoom: UInt64 = 256 << 10

  private let configuration: ArchiverConfiguration
  private let shared: ArchiverShared
  private let report: @Sendable (OperatorReport) -> Void
  private var lock: ArchiveLock?
  private var lockIdentity: FileSystem.Identity?
  private var memory: ArchiveMemory?
  private var wait = ArchiverLoop.shortestWait
  /// What was logged since it began to wait: faults of several kinds may take turns.
  private var told: Set<ArchiveError.Kind> = []

  init(
    _ configuration: ArchiverConfiguration, _ shared: ArchiverShared,
    _ report: @escaping @Sendable (OperatorReport) -> Void
  ) {
    self.configuration = configuration
    self.shared = shared
    self.report = report
  }

  /// Runs until it is to stop; `opened` is called once the directory is.
  mutating func run(opened: () -> Void) throws(ArchiverFailure) {
    let writer: ArchiveWriter
    do throws(ArchiveError) {
      writer = try open()
    } catch {
      throw .archive(error)
    }
    opened()
    var fault = try serve(writer)
    while let error = fault {
      if wait(for: error) { return }
      fault = try attempt(after: error)
    }
  }

  /// Opens the directory, under the archiver's lock.
  private mutating func open() throws(ArchiveError) -> ArchiveWriter {
    let directory = configuration.directory
    if memory == nil { try ArchiveMemory.make(directory) }
    let path = "\(directory)/\(ArchiveLock.Kind.archiver.rawValue)"
    // Another directory may be at this place since.
    if lock == nil || lockIdentity != FileSystem.identityIfThere(path) {
      lock = try ArchiveLock(.archiver, of: directory)
      lockIdentity = FileSystem.identityIfThere(path)
    }
    return try ArchiveWriter(configuration, continuing: memory)
  }

  /// One session with the bus. Returns the fault of the directory that ended it; nil at an orderly end.
  private mutating func serve(
    _ writer: consuming ArchiveWriter
  ) throws(ArchiverFailure) -> ArchiveError? {
    var session = try ArchiverSession(writer, configuration, shared, report)
    let outcome = session.run()
    memory = session.memory ?? memory
    if session.hasWritten { wait = Self.shortestWait }
    switch outcome {
    case .stopped: return nil
    case .fault(let error): return error
    case .failed(let failure): throw failure
    }
  }

  /// Tells the fault, and waits; true when it is to stop.
  private mutating func wait(for error: ArchiveError) -> Bool {
    let isBeginning = shared.status.withLock { status in
      defer {
        status.trouble = error
        status.state = .waiting
        status.isConnected = false
        status.openPart = nil
        status.failures += 1
        status.failuresOfWait += 1
      }
      return status.state != .waiting
    }
    if isBeginning { told.removeAll() }
    if told.insert(error.kind).inserted {
      report(
        OperatorReport(
          .error, "archiver.waiting",
          "\(error). Nothing is lost: the events stay in the journal, and it goes on by itself"))
    }
    let pause = wait
    wait = min(wait * 2, Self.longestWait)
    return shared.pause(pause)
  }

  /// One more try; returns why it failed, nil at an orderly end.
  private mutating func attempt(
    after error: ArchiveError
  ) throws(ArchiverFailure) -> ArchiveError? {
    let writer: ArchiveWriter
    do throws(ArchiveError) {
      writer = try open(after: error)
    } catch {
      return error
    }
    return try serve(writer)
  }

  private mutating func open(after error: ArchiveError) throws(ArchiveError) -> ArchiveWriter {
    // First, since it removes what an unfinished commit left on the full disk.
    let writer = try open()
    try checkRoom(after: error)
    return writer
  }

  private func checkRoom(after error: ArchiveError) throws(ArchiveError) {
    guard error.kind == .diskFull else { return }
    do throws(SystemError) {
      guard try FileSystem.available(configuration.directory) < Self.leastRoom else { return }
    } catch {
      throw ArchiveError(error)
    }
    throw error
  }
}
