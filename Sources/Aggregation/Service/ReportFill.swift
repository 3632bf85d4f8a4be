internal import BusClient
internal import BusProtocol
internal import Primitives
internal import SinkState

/// New reports on their way through the journal's past, a batch at a time beside the live counting, until
/// they are where it is. They have a core of their own, as they are at another place of the journal.
///
/// One thread uses it, between the live batches.
final class ReportFill {
  let reports: [StoredReport]
  private let subscriber: Subscriber
  private let store: AggregatorStore
  private let windowBytes: Int
  private var past: AggregatorCore
  /// Everything before it is counted.
  private(set) var end = Position(epoch: 0, offset: 0)
  /// Reaches beyond what is counted live.
  private var held: EventBatch?

  init(
    _ reports: [StoredReport], _ configuration: AggregatorConfiguration, _ store: AggregatorStore,
    forgotten: ForgottenPeople
  ) throws(AggregatorError) {
    var subscription = SubscriberConfiguration(
      address: configuration.bus, client: "eventbus aggregator (fill)")
    subscription.filters = SinkFilters.obeyingForget(configuration.filters)
    subscription.start = .earliest
    do throws(BusClientError) {
      subscriber = try Subscriber(subscription)
    } catch { throw .bus(error) }
    past = AggregatorCore(
      progress: SinkProgress(start: Position(epoch: 0, offset: 0)),
      doubles: Doubles(key: store.key, horizon: configuration.horizon), forgotten: forgotten)
    past.setReports(reports)
    self.reports = reports
    self.store = store
    windowBytes = configuration.windowBytes
  }

  deinit { subscriber.close() }

  var names: [String] { reports.map(\.definition.name) }

  /// Counts one batch, if one is there within `wait`, and none that reaches beyond `cursor`, up to which is
  /// counted live. True when there is nothing more to count before it: then `finish`.
  func advance(to cursor: Position, wait: Duration) throws(AggregatorError) -> Bool {
    guard let batch = try next(wait) else {
      // Nothing comes where the journal begins at the cursor: the past is gone.
      if let opened = subscriber.status.opened { end = max(end, opened.cursor) }
      return end >= cursor
    }
    guard batch.end <= cursor else {
      held = batch
      return true
    }
    try past.count(batch, before: nil, from: store)
    end = batch.end
    if past.memoryBytes > windowBytes { try save(isDone: false) }
    return end >= cursor
  }

  /// Counts what is left before `cursor`, up to which the live counts are stored; from there on the reports
  /// go on with all others.
  func finish(at cursor: Position) throws(AggregatorError) {
    if let held { try past.count(held, before: cursor, from: store) }
    try save(isDone: true)
  }

  private func next(_ wait: Duration) throws(AggregatorError) -> EventBatch? {
    if let held {
      self.held = nil
      return held
    }
    do throws(BusClientError) {
      return try subscriber.nextBatch(deadline: wait)
    } catch { throw .bus(error) }
  }

  private func save(isDone: Bool) throws(AggregatorError) {
    try store.commitFill(past, isDone: isDone)
    past.markSaved(keepingBytes: windowBytes / 2)
  }
}
