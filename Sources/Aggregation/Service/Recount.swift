public import BusClient
public import BusProtocol
internal import Database
internal import Primitives
internal import SinkState

/// Counts events again, into a file of its own: for `recompute`, which must come to the same numbers as
/// the service did, and for measuring. One thread uses it.
public final class Recount {
  /// An event as an archive or a journal has it.
  public struct Event: ~Escapable {
    let name: RawSpan
    let payload: RawSpan
    let position: Position
    /// Journal time, nanoseconds since 1970.
    let time: Int64
    let isAddressed: Bool

    @_lifetime(copy name, copy payload)
    public init(
      name: RawSpan, payload: RawSpan, position: Position, time: Int64, isAddressed: Bool = false
    ) {
      self.name = name
      self.payload = payload
      self.position = position
      self.time = time
      self.isAddressed = isAddressed
    }
  }

  private let store: AggregatorStore
  private var core: AggregatorCore
  private let windowBytes: Int
  private var untilWeighed = 0

  /// - Parameters:
  ///   - path: a file that is not there yet.
  ///   - original: the service's file, whose key of hashes is taken: with another, estimates differ
  ///     within their error.
  public init(
    _ path: String, _ reports: [ReportDefinition], keyOf original: String? = nil, start: Position,
    configuration: AggregatorConfiguration
  ) throws(AggregatorError) {
    let key = try original.map { path throws(AggregatorError) in
      try AggregatorStore.key(of: path)
    }
    store = try AggregatorStore(path, key: key ?? nil)
    core = AggregatorCore(
      progress: SinkProgress(start: start),
      doubles: Doubles(key: store.key, horizon: configuration.horizon),
      forgotten: ForgottenPeople(key: store.key))
    core.setReports(try store.match(reports).reports)
    windowBytes = configuration.windowBytes
    cursor = start
  }

  /// Behind the last event that was taken.
  public private(set) var cursor: Position

  /// Events that neither the archive nor the journal has any more.
  public var missing: UInt64 { core.progress.ledger.missing }

  /// What lies between the last event and this place is not there any more.
  public func skip(to place: Position) throws(AggregatorError) {
    try count()
    core.progress.jump(to: place, .gap)
    cursor = place
  }

  /// Takes the next event of the journal's order. What lies between it and the last one did not match.
  public func take(_ event: borrowing Event) throws(AggregatorError) {
    // The journal began a new epoch at a place it had been at before.
    if event.position.offset < cursor.offset { try skip(to: event.position) }
    try core.take(
      event.payload, name: event.name,
      at: AggregatorCore.EventPlace(
        position: event.position, time: event.time, isAddressed: event.isAddressed),
      from: store)
    cursor = Position(epoch: event.position.epoch, offset: event.position.offset + 1)
    untilWeighed -= 1
    if untilWeighed <= 0 { try weigh() }
  }

  public func take(_ batch: EventBatch, before end: Position) throws(AggregatorError) {
    if let gap = batch.gap { try skip(to: min(gap.to, end)) }
    try core.count(batch, before: end, from: store)
    cursor = min(batch.end, end)
    try weigh()
  }

  /// Stores everything.
  public func finish() throws(AggregatorError) {
    try count()
    try store.commit(core)
    core.markSaved(keepingBytes: windowBytes)
  }

  private func count() throws(AggregatorError) {
    try core.finish(from: store)
    core.progress.advance(to: cursor)
  }

  private func weigh() throws(AggregatorError) {
    untilWeighed = 100_000
    if core.memoryBytes > windowBytes { try finish() }
  }
}
