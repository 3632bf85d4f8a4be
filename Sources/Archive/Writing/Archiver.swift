public import Primitives
internal import Synchronization

/// A running archiver: one thread, which reads the bus and writes the archive.
///
/// It keeps its cursor in the archive and opens the bus there, so that each event takes effect once. What
/// the bus is told to keep no longer is in the catalogue by then.
public final class Archiver: Sendable {
  private let shared: ArchiverShared
  private let thread: OwnedThread

  /// Takes the directory and opens it; blocks until that is done. The bus need not be there.
  ///
  /// - Parameter report: gets what an operator should know, on the archiver's thread.
  /// - Throws: `.inUse`, naming the holder, when another archiver has the directory; otherwise why it
  ///   cannot be written.
  public init(
    _ configuration: ArchiverConfiguration,
    report: @escaping @Sendable (OperatorReport) -> Void = { _ in }
  ) throws(ArchiveError) {
    let opening: Opening
    do throws(SystemError) {
      let shared = try ArchiverShared()
      let opened = Opening(try WakeSignal())
      opening = opened
      self.shared = shared
      thread = try OwnedThread(name: "eb-archiver") {
        Self.run(configuration, shared, report, opened)
      }
    } catch {
      throw ArchiveError(error)
    }
    guard let failure = opening.wait() else { return }
    thread.join()
    throw failure
  }

  /// The thread's whole life.
  private static func run(
    _ configuration: ArchiverConfiguration, _ shared: ArchiverShared,
    _ report: @escaping @Sendable (OperatorReport) -> Void, _ opening: Opening
  ) {
    var loop = ArchiverLoop(configuration, shared, report)
    do throws(ArchiverFailure) {
      try loop.run { opening.settle(nil) }
    } catch {
      shared.failure.withLock { $0 = error }
      if case .archive(let error) = error { opening.settle(error) }
    }
    opening.settle(nil)
    shared.status.withLock { $0.state = .ended }
    shared.ready.signal()
  }

  /// Carries the outcome of the opening to whoever started it.
  private final class Opening: Sendable {
    private let wake: WakeSignal
    private let outcome = Mutex<(isSettled: Bool, error: ArchiveError?)>((false, nil))

    init(_ wake: WakeSignal) { self.wake = wake }

    func settle(_ error: ArchiveError?) {
      outcome.withLock { if !$0.isSettled { $0 = (true, error) } }
      wake.signal()
    }

    func wait() -> ArchiveError? {
      while true {
        let outcome = outcome.withLock { $0 }
        if outcome.isSettled { return outcome.error }
        wake.wait()
      }
    }
  }

  /// Any thread.
  public var status: ArchiverStatus { shared.status.withLock { $0 } }

  /// Why it ended by itself; nil while it runs, and when it was stopped.
  public var failure: ArchiverFailure? { shared.failure.withLock { $0 } }

  /// Blocks until the bus has answered for the first time, from when on nothing that is published is
  /// missed, or until the archiver has ended; false then.
  public func waitUntilReady() -> Bool {
    while true {
      let status = status
      if status.state == .ended { return false }
      if status.progress != nil, status.isConnected { return true }
      shared.ready.wait()
    }
  }

  /// Begins an orderly end: commits what it has, and tells the bus.
  public func stop() { shared.stop() }

  /// Waits for the end. Call it once.
  public func join() { thread.join() }
}
