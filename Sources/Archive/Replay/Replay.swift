public import BusClient
public import BusProtocol
internal import EventCodec
internal import Primitives

/// Sends events of an archive to named subscribers, and goes on where an earlier run stopped.
///
/// Which events: those that the filter wants of what the archive held when the replay began. What is sent
/// has its offset as sequence, under a producer for each epoch, so the broker stores none twice, and its last
/// number is the place to go on. Blocks its thread, and waits for nobody but the producer.
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
    /// The bus did not answer in time.
    public var wasReached = true
    public var query = QueryReport()
    /// Nothing is left to be sent.
    public var isComplete = false

    public init() {}
  }

  /// Calls `take` with the name of each event that a run would send, as far as this side knows: the broker
  /// may have a little more.
  public func dryRun(
    isCancelled: @escaping @Sendable () -> Bool, _ take: (_ topic: [UInt8]) -> Void
  ) throws(ArchiveError) -> Report {
    var report = Report()
    var reader = ReplayReader(archive: source.key)
    report.start = state.next
    guard !state.isComplete else {
      report.isComplete = true
      return report
    }
    let left = state.next..<max(state.next, state.end)
    report.query = try query(left, isCancelled).rows { row in
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

  /// Gives a producer of this identity that has heard from the bus, whose addressees are the definition's
  /// subscribers; nil when the bus does not answer.
  public typealias Connect =
    (_ identity: [UInt8], _ epoch: UInt32) throws(BusClientError) -> Producer?

  /// Sends what is left. Each producer is closed here, within `deadline`.
  ///
  /// - Throws: `ArchiveError` when the archive cannot be read or the state cannot be written; what was
  ///   sent by then is with the broker, and the next run goes on behind it.
  public mutating func run(
    deadline: Duration, _ steering: Steering, _ connect: Connect
  ) throws(ArchiveError) -> Report {
    var report = Report()
    report.start = state.next
    guard !state.isComplete else {
      report.isComplete = true
      return report
    }
    try state.store(stateFolder, name)
    for epoch in source.epochs where epoch >= state.next.epoch && epoch <= state.end.epoch {
      guard try send(epoch, deadline, steering, connect, &report) else { return report }
    }
    report.isComplete = report.query.damageCount == 0
    if report.isComplete { state.next = max(state.next, state.end) }
    state.isComplete = report.isComplete
    try state.store(stateFolder, name)
    return report
  }

  /// Sends one epoch; false when it did not come to its end.
  private mutating func send(
    _ epoch: UInt32, _ deadline: Duration, _ steering: Steering, _ connect: Connect,
    _ report: inout Report
  ) throws(ArchiveError) -> Bool {
    let identity = definition.producer(archive: source.key, run: state.run, epoch: epoch)
    let producer: Producer
    do throws(BusClientError) {
      guard let connected = try connect(identity, epoch) else {
        report.wasReached = false
        return false
      }
      producer = connected
    } catch {
      report.failure = error
      return false
    }
    let stored = ReplaySequence.place(behind: producer.storedSequence ?? 0, epoch: epoch)
    var sender = ReplaySender(producer, steering, next: max(state.next, stored))
    let before = state.acknowledged
    report.query.add(try send(&sender, &report, before))
    let result = producer.closeBlocking(deadline: deadline)
    report.published += sender.progress.published
    report.acknowledged += result.acknowledged
    report.refusedByBus += result.refused
    report.unacknowledged += result.unacknowledged
    report.failure = sender.failure ?? result.failure
    let isSent = result.isComplete && report.failure == nil
    if isSent { sender.progress.settle(through: sender.next) }
    state.next = max(state.next, sender.progress.next)
    state.acknowledged = before + result.acknowledged
    state.refused += result.refused
    try state.store(stateFolder, name)
    return isSent && sender.reachedEnd
  }

  private mutating func send(
    _ sender: inout ReplaySender, _ report: inout Report, _ before: UInt64
  ) throws(ArchiveError) -> QueryReport {
    var reader = ReplayReader(archive: source.key)
    var trouble: ArchiveError?
    let steering = sender.steering
    let end = min(state.end, Position(epoch: sender.next.epoch, offset: .max))
    let result = try query(sender.next..<max(sender.next, end), steering.isCancelled).rows { row in
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
    _ positions: Range<Position>, _ isCancelled: @escaping @Sendable () -> Bool
  ) -> ArchiveQuery {
    var filter = filter
    filter.positions = positions
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
