public import BusClient
public import BusProtocol
internal import EventCodec
internal import Primitives

/// Sends events of an archive to named subscribers, and goes on where an earlier run stopped.
///
/// Which events: those that the filter wants of what the archive held when the replay began. What is sent
/// has its position as sequence, so the broker stores none twice, and its last number is the place to go
/// on. Blocks its thread, and waits for nobody but the producer.
public struct Replay {
  /// Which events, and where the state is kept.
  public let source: ReplaySource
  public let definition: ReplayDefinition
  public private(set) var state: ReplayState
  private var filter: ArchiveFilter
  private let stateFolder: String
  private let name: String
  /// Whether an earlier run of it had begun.
  public let isResumed: Bool

  /// - Parameters:
  ///   - filter: its times count for a replay that begins; one that goes on keeps its own.
  ///   - again: begins anew, and sends what was sent before once more.
  public init(
    _ source: ReplaySource, _ definition: ReplayDefinition, _ filter: ArchiveFilter,
    stateFolder: String, again: Bool = false
  ) throws(ArchiveError) {
    self.source = source
    self.definition = definition
    self.stateFolder = stateFolder
    name = definition.name(archive: source.key)
    let known = try ReplayState.load(stateFolder, name)
    isResumed = known != nil && !again
    if let known, !again {
      state = known
    } else {
      state = ReplayState(
        run: known.map { $0.run + 1 } ?? 0, from: filter.from, until: filter.to, end: source.end)
    }
    self.filter = filter
    self.filter.from = state.from
    self.filter.to = state.until
  }

  /// The identity of the producer that sends it: its addressees must be the definition's subscribers.
  public var producerIdentity: [UInt8] {
    definition.producer(archive: source.key, run: state.run)
  }

  /// How a run is watched and steered, each called on the thread that runs it.
  public struct Steering {
    public var isCancelled: @Sendable () -> Bool = { false }
    /// Events a second; nil: as fast as the bus takes them.
    public var rate: Double?
    /// Blocks for so long, or less.
    public var pause: (_ milliseconds: Int32) -> Void = { _ in }
    public var onProgress: (_ published: UInt64) -> Void = { _ in }
    public var onRefused: (_ place: Position, _ reason: String) -> Void = { _, _ in }

    public init() {}
  }

  /// What a run did.
  public struct Report: Sendable {
    /// Where it began.
    public var start = Position(epoch: 0, offset: 0)
    /// Given to the producer.
    public var published: UInt64 = 0
    /// Refused before that: no event, or too large.
    public var refused: UInt64 = 0
    /// Left out, since the person was forgotten.
    public var forgotten: UInt64 = 0
    public var acknowledged: UInt64 = 0
    public var refusedByBus: UInt64 = 0
    public var unacknowledged: UInt64 = 0
    public var failure: BusClientError?
    public var query = QueryReport()
    /// Nothing is left to be sent.
    public var isComplete = false

    public init() {}
  }

  /// Calls `take` with the name of each event that a whole replay would send; false ends it.
  public func dryRun(
    isCancelled: @escaping @Sendable () -> Bool, _ take: (_ topic: [UInt8]) -> Void
  ) throws(ArchiveError) -> Report {
    var report = Report()
    var reader = ReplayReader(archive: source.key)
    report.query = try query(from: Position(epoch: 0, offset: 0), isCancelled).rows { row in
      switch read(row.line, &reader, &report, { _, _ in }) {
      case .publish:
        report.published += 1
        take(reader.topic)
      case .leaveOut: break
      }
      return true
    }
    return report
  }

  /// Sends what is left. The producer is connected, and is closed here, within `deadline`.
  ///
  /// - Throws: `ArchiveError` when the archive cannot be read or the state cannot be written; what was
  ///   sent by then is with the broker, and the next run goes on behind it.
  public mutating func run(
    _ producer: Producer, deadline: Duration, _ steering: Steering
  ) throws(ArchiveError) -> Report {
    var report = Report()
    let stored = producer.storedSequence.flatMap { ReplaySequence.place(behind: $0) }
    report.start = max(state.next, stored ?? state.next)
    guard !state.isComplete else {
      report.isComplete = true
      report.failure = nil
      _ = producer.closeBlocking(deadline: deadline)
      return report
    }
    try state.store(stateFolder, name)
    var sender = ReplaySender(producer, steering, next: report.start)
    let before = state.acknowledged
    report.query = try send(&sender, &report, before)
    let result = producer.closeBlocking(deadline: deadline)
    report.published = sender.progress.published
    report.acknowledged = result.acknowledged
    report.refusedByBus = result.refused
    report.unacknowledged = result.unacknowledged
    report.failure = sender.failure ?? result.failure
    if result.isComplete, report.failure == nil {
      report.isComplete = sender.reachedEnd && report.query.damageCount == 0
      sender.progress.settle(through: sender.reachedEnd ? state.end : sender.next)
    }
    state.next = max(state.next, sender.progress.next)
    state.acknowledged = before + result.acknowledged
    state.refused += report.refused + result.refused
    state.isComplete = report.isComplete
    try state.store(stateFolder, name)
    return report
  }

  private mutating func send(
    _ sender: inout ReplaySender, _ report: inout Report, _ before: UInt64
  ) throws(ArchiveError) -> QueryReport {
    var reader = ReplayReader(archive: source.key)
    var trouble: ArchiveError?
    let steering = sender.steering
    let result = try query(from: sender.next, steering.isCancelled).rows { row in
      switch read(row.line, &reader, &report, steering.onRefused) {
      case .publish(let position):
        guard sender.publish(reader, at: position, &report) else { return false }
      case .leaveOut(let position): sender.pass(position)
      }
      guard sender.isDue else { return true }
      state.next = max(state.next, sender.checkpoint())
      state.acknowledged = before + sender.producer.counters.acknowledged
      do throws(ArchiveError) { try state.store(stateFolder, name) } catch { trouble = error }
      return trouble == nil
    }
    if let trouble { throw trouble }
    sender.reachedEnd = !sender.hasStopped && !steering.isCancelled()
    return result
  }

  private func query(
    from start: Position, _ isCancelled: @escaping @Sendable () -> Bool
  ) -> ArchiveQuery {
    var filter = filter
    filter.positions = start..<max(start, state.end)
    var query = ArchiveQuery(source.directory, filter)
    query.isCancelled = isCancelled
    return query
  }

  private enum Verdict {
    case publish(Position)
    case leaveOut(Position?)
  }

  private func read(
    _ line: RawSpan, _ reader: inout ReplayReader, _ report: inout Report,
    _ refuse: (Position, String) -> Void
  ) -> Verdict {
    let position: Position
    do throws(CodecError) {
      position = try reader.read(line)
    } catch {
      report.refused += 1
      let place = unsafe line.withUnsafeBytes { unsafe LineTail.position($0) }
      refuse(place ?? Position(epoch: 0, offset: 0), error.description)
      return .leaveOut(place)
    }
    guard unsafe !source.isForgotten(reader.payload.span.bytes) else {
      report.forgotten += 1
      return .leaveOut(position)
    }
    return .publish(position)
  }
}
