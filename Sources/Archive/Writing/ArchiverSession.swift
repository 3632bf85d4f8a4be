internal import BusClient
internal import BusProtocol
internal import Primitives
internal import SinkState
internal import Synchronization

/// From one opening of the directory to the next fault: batches in, parts out.
struct ArchiverSession: ~Copyable {
  enum Outcome {
    case stopped
    /// The directory failed: opened again later, the cursor tells where to go on.
    case fault(ArchiveError)
    case failed(ArchiverFailure)
  }

  private enum Fault: Error {
    case archive(ArchiveError)
    case bus(BusClientError)
  }

  private var writer: ArchiveWriter
  private let subscriber: Subscriber
  private let configuration: ArchiverConfiguration
  private let shared: ArchiverShared
  private let report: @Sendable (OperatorReport) -> Void
  /// What a later session needs, as of the last commit.
  private(set) var memory: ArchiveMemory?
  /// A commit came through since it was opened.
  private(set) var hasWritten = false
  private let begun = SystemClock.monotonic()
  private var committed: Position?
  private var lastCommit = SystemClock.monotonic()
  private var lastStatus: Int64 = 0
  /// What the status has of this writer's counts.
  private var (toldParts, toldBytes): (UInt64, UInt64) = (0, 0)

  init(
    _ writer: consuming ArchiveWriter, _ configuration: ArchiverConfiguration,
    _ shared: ArchiverShared, _ report: @escaping @Sendable (OperatorReport) -> Void
  ) throws(ArchiverFailure) {
    let subscriber: Subscriber
    do throws(BusClientError) {
      subscriber = try Subscriber(Self.subscription(configuration, writer.progress, report))
    } catch {
      throw ArchiverFailure(error)
    }
    self.writer = writer
    self.subscriber = subscriber
    self.configuration = configuration
    self.shared = shared
    self.report = report
    committed = self.writer.progress?.cursor
  }

  private static func subscription(
    _ configuration: ArchiverConfiguration, _ progress: SinkProgress?,
    _ report: @escaping @Sendable (OperatorReport) -> Void
  ) -> SubscriberConfiguration {
    var subscription = SubscriberConfiguration(
      address: configuration.address, client: "eventbus archiver", name: configuration.name)
    subscription.filters = SinkFilters.obeyingForget(configuration.filters)
    subscription.reset = configuration.takesOtherFilters
    subscription.start = .cursor(otherwise: configuration.start)
    if let progress {
      subscription.start = .position(progress.cursor)
      subscription.seekGeneration = progress.seekGeneration
    }
    subscription.onReport = report
    return subscription
  }

  mutating func run() -> Outcome {
    let outcome: Outcome
    do throws(Fault) {
      if try begin() { try work() }
      outcome = .stopped
    } catch {
      writer.abandon()
      switch error {
      case .archive(let error): outcome = .fault(error)
      case .bus(let error): outcome = .failed(ArchiverFailure(error))
      }
    }
    subscriber.closeBlocking()
    return outcome
  }

  /// Waits for the bus's first answer, which tells a new archive where it begins; false when it is to
  /// stop.
  private mutating func begin() throws(Fault) -> Bool {
    tellFound()
    while !(try opened()) {
      if shared.mustStop { return false }
      let link = subscriber.status.link
      shared.status.withLock { $0.link = link }
    }
    if writer.progress == nil, let opened = subscriber.status.opened {
      try archive { (writer) throws(ArchiveError) in
        try writer.begin(at: opened.cursor, seekGeneration: opened.seekGeneration)
      }
      committed = opened.cursor
    }
    remember()
    if shared.status.withLock({ $0.state }) == .starting { settle() }
    publish(at: SystemClock.monotonic())
    shared.ready.signal()
    return true
  }

  private func opened() throws(Fault) -> Bool {
    do throws(BusClientError) {
      return try subscriber.waitUntilOpened(deadline: .milliseconds(100))
    } catch {
      throw .bus(error)
    }
  }

  private mutating func work() throws(Fault) {
    while !shared.mustStop {
      let batch: EventBatch?
      // Nobody waits for events while there are parts to be written anew: a batch, a part, in turn.
      let isErasing = writer.forgetting.isDue(at: SystemClock.monotonic())
      do throws(BusClientError) {
        batch = try subscriber.nextBatch(deadline: isErasing ? .zero : .milliseconds(100))
      } catch {
        throw .bus(error)
      }
      if isErasing { try archive { (writer) throws(ArchiveError) in try writer.forget() } }
      if let batch { try archive { (writer) throws(ArchiveError) in try writer.take(batch) } }
      if let gap = batch?.gap { tell(gap) }
      let now = SystemClock.monotonic()
      if isDue(at: now, isIdle: batch == nil) { try commit() }
      if now - lastStatus > 250_000_000 { publish(at: now) }
    }
    shared.status.withLock { $0.state = .stopping }
    try commit()
    if let committed {
      // The bus is told what it need not keep; that it was not is made good by the next start.
      _ = try? subscriber.waitForCommit(committed, deadline: .seconds(2))
    }
    publish(at: SystemClock.monotonic())
  }

  /// While it waits for the directory, the first batch tries whether it can be written again.
  private func isDue(at now: Int64, isIdle: Bool) -> Bool {
    if writer.isDue(at: now) || (isRecovering && !hasWritten) { return true }
    // What left no line moves the cursor all the same.
    return writer.progress?.cursor != committed
      && now - lastCommit >= configuration.limits.age.nanoseconds
  }

  private var isRecovering: Bool { shared.status.withLock { $0.state } == .waiting }

  private mutating func commit() throws(Fault) {
    try archive { (writer) throws(ArchiveError) in
      try writer.commit()
    }
    hasWritten = true
    lastCommit = SystemClock.monotonic()
    committed = writer.progress?.cursor
    remember()
    if let committed { subscriber.commit(committed) }
    publish(at: lastCommit)
  }

  private mutating func archive(
    _ body: (inout ArchiveWriter) throws(ArchiveError) -> Void
  ) throws(Fault) {
    do throws(ArchiveError) {
      try body(&writer)
    } catch {
      throw .archive(error)
    }
  }

  private mutating func remember() { memory = writer.memory ?? memory }
}

// What the owner and the operator get to see.
extension ArchiverSession {
  private func settle() {
    shared.status.withLock { status in
      status.state = .running
      status.trouble = nil
      status.failuresOfWait = 0
    }
  }

  /// How long a directory that failed must take what comes before it counts as mended, unless everything
  /// is read sooner. On a disk that fills, every try finds room for a little.
  private static let probation: Int64 = 10_000_000_000

  private func endWait(at now: Int64, _ bus: SubscriberStatus) {
    guard hasWritten, isRecovering else { return }
    let isThrough = writer.progress.map { $0.cursor.offset >= bus.head } ?? false
    guard isThrough || now - begun >= Self.probation else { return }
    let failures = shared.status.withLock { $0.failuresOfWait }
    settle()
    let tries = failures == 1 ? "1 try" : "\(failures) tries"
    report(
      .init(
        .info, "archiver.running",
        "the archive is written again; \(tries) had failed"))
  }

  private func tellFound() {
    guard !writer.removed.isEmpty else { return }
    shared.status.withLock { $0.filesRemoved += UInt64(writer.removed.count) }
    report(
      .init(
        .warning, "archiver.cleaned",
        "removed \(writer.removed.count) unfinished file(s) of an archiver that was killed: "
          + writer.removed.prefix(3).joined(separator: ", ")))
  }

  private func tell(_ gap: SubscriberGap) {
    shared.status.withLock { $0.gaps += 1 }
    report(.init(.error, "archiver.gap", "lost: \(gap)"))
  }

  private mutating func publish(at now: Int64) {
    lastStatus = now
    let bus = subscriber.status
    endWait(at: now, bus)
    let written = (writer.partsWritten, writer.bytesWritten)
    let (new, newBytes) = (written.0 - toldParts, written.1 - toldBytes)
    (toldParts, toldBytes) = written
    shared.status.withLock { status in
      status.isConnected = bus.isConnected
      status.link = bus.link
      status.head = max(bus.head, bus.opened?.head ?? 0)
      status.partsWritten += new
      status.bytesWritten += newBytes
      writer.describe(&status)
    }
  }
}
