internal import Database
public import Primitives
internal import Synchronization

/// The aggregator as a service: reads the bus on a thread of its own, keeps reports in a SQLite file, and
/// answers questions about them from any thread.
public final class Aggregator: Sendable {
  private let shared: AggregatorShared
  private let thread: Mutex<OwnedThread?>

  /// Opens the file and starts the thread; does not wait for the bus.
  ///
  /// - Parameter report: gets what is worth a log line, on the aggregator's threads.
  /// - Throws: when the report file is wrong, the directory is in use, or the file cannot be opened.
  public init(
    _ configuration: AggregatorConfiguration,
    report: @escaping @Sendable (OperatorReport) -> Void
  ) throws(AggregatorError) {
    let shared = AggregatorShared(configuration, report)
    do throws(SystemError) {
      let opened = try WakeSignal()
      let started = try OwnedThread(name: "aggregator") {
        AggregatorWorker.run(shared) { opened.signal() }
        opened.signal()
      }
      opened.wait()
      thread = Mutex(started)
    } catch { throw .system(text: error.description) }
    self.shared = shared
    if let failure = failure {
      join()
      throw failure
    }
  }

  /// Asks it to store what it has and end. Any thread.
  public func stop() { shared.state.withLock { $0.isStopping = true } }

  /// Waits for the end. Blocks; call it from one thread.
  public func join() {
    let taken = thread.withLock { $0.take() }
    taken?.join()
  }

  /// Why it ended, if not because it was told to.
  public var failure: AggregatorError? { shared.state.withLock { $0.failure } }

  /// The name under which the bus knows it.
  public var name: String { shared.configuration.name }

  public var status: AggregatorStatus { shared.state.withLock { $0.status } }

  /// Events by name since the start, a quarter of a second old at most. Any thread; costs two references.
  public var live: LiveCounts { shared.live.withLock { $0 } }

  public enum Answered: Sendable {
    case answer(ReportAnswer)
    /// No report of that name; the nearest one.
    case unknown(nearest: String?)
    /// The report is new and not in the file yet.
    case notYet
  }

  /// Answers from the last commit. Any thread, one question at a time; a year of hours takes about
  /// 100 ms.
  public func answer(
    _ name: String, _ question: ReportQuestion
  ) throws(AggregatorError) -> Answered {
    let definitions = shared.state.withLock { $0.definitions }
    guard let definition = definitions.first(where: { $0.name == name }) else {
      return .unknown(nearest: EditDistance.nearest(to: name, in: definitions.map(\.name)))
    }
    let path = shared.file
    return try shared.reading.withLock { reading throws(AggregatorError) in
      do throws(DatabaseError) {
        if reading == nil { reading = try ReportReading(path) }
      } catch { throw .database(error) }
      guard let answer = try reading?.answer(definition, question) else { return .notYet }
      return .answer(answer)
    }
  }
}

/// What the aggregator's thread and those who ask it share.
final class AggregatorShared: Sendable {
  struct State: Sendable {
    var status = AggregatorStatus()
    var definitions: [ReportDefinition] = []
    var failure: AggregatorError?
    var isStopping = false
  }

  let configuration: AggregatorConfiguration
  let report: @Sendable (OperatorReport) -> Void
  let state = Mutex(State())
  let live = Mutex(LiveCounts())
  /// The connection of those who ask; made when the first one does.
  let reading = Mutex<ReportReading?>(nil)

  init(
    _ configuration: AggregatorConfiguration,
    _ report: @escaping @Sendable (OperatorReport) -> Void
  ) {
    self.configuration = configuration
    self.report = report
  }

  var file: String { "\(configuration.directory)/\(AggregatorStore.fileName)" }
  var isStopping: Bool { state.withLock { $0.isStopping } }

  func say(_ level: OperatorReport.Level, _ key: String, _ text: String) {
    report(OperatorReport(level, key, text))
  }
}
