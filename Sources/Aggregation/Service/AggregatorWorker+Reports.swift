internal import BusClient
internal import BusProtocol
internal import Primitives
internal import SinkState
internal import Synchronization

// Reports come, change and go with their file, while the service runs.
extension AggregatorWorker {
  mutating func lookAtFile(_ subscriber: Subscriber) throws(AggregatorError) {
    guard let path = file?.path else { return }
    let bytes: [UInt8]
    do throws(SystemError) {
      guard let changed = try file?.readIfChanged() else { return }
      bytes = changed
    } catch {
      return refuseFile("\(error); the reports go on as they are")
    }
    let read: [ReportDefinition]
    do throws(ReportFileError) {
      read = try ReportFile.parse(bytes, path: path)
    } catch {
      return refuseFile("\(error); the reports go on as they are")
    }
    shared.state.withLock { $0.status.fileTrouble = "" }
    // What was counted up to here belongs to the old reports.
    try commit(subscriber, SystemClock.monotonic())
    try take(read)
  }

  private func refuseFile(_ text: String) {
    shared.say(.error, "reports.file", text)
    shared.state.withLock { $0.status.fileTrouble = text }
  }

  /// Makes these the reports that count from here on.
  mutating func take(_ definitions: [ReportDefinition]) throws(AggregatorError) {
    guard let progress = core?.progress else { return }
    let isPast = progress.cursor != progress.ledger.start
    let (stored, new) = try store.match(definitions, marksFilling: isPast)
    if isPast {
      for name in new { shared.say(.info, "reports.new", "report \(name) begins") }
    }
    let filling = stored.filter { $0.definition.fills && new.contains($0.definition.name) }
    if !filling.isEmpty, isPast {
      guard try fill(filling, to: progress.cursor) else { return }
    }
    core?.setReports(try store.match(definitions, marksFilling: false).reports)
    shared.state.withLock { $0.definitions = definitions }
    tell(nil, trouble: "")
  }

  /// Counts new reports from the journal's beginning up to the cursor, before they go on with all others.
  /// False when it is to stop: then the next start fills them.
  private mutating func fill(
    _ reports: [StoredReport], to cursor: Position
  ) throws(AggregatorError) -> Bool {
    let names = reports.map(\.definition.name).joined(separator: ", ")
    shared.say(.info, "reports.fill", "filling \(names) from the journal")
    var configuration = SubscriberConfiguration(
      address: shared.configuration.bus, client: "eventbus aggregator (fill)")
    configuration.filters = SinkFilters.obeyingForget(shared.configuration.filters)
    configuration.start = .earliest
    let subscriber: Subscriber
    do throws(BusClientError) {
      subscriber = try Subscriber(configuration)
    } catch { throw .bus(error) }
    defer { subscriber.close() }
    var past = AggregatorCore(
      progress: SinkProgress(start: Position(epoch: 0, offset: 0)),
      doubles: Doubles(key: store.key, horizon: shared.configuration.horizon),
      forgotten: core?.forgotten ?? ForgottenPeople(key: store.key))
    past.setReports(reports)
    var end = Position(epoch: 0, offset: 0)
    while end < cursor {
      if shared.isStopping { return false }
      let next: EventBatch?
      do throws(BusClientError) {
        next = try subscriber.nextBatch(deadline: .milliseconds(100))
      } catch { throw .bus(error) }
      guard let batch = next else {
        // Nothing comes where the journal begins at the cursor: the past is gone.
        if let opened = subscriber.status.opened { end = max(end, opened.cursor) }
        continue
      }
      try past.count(batch, before: cursor, from: store)
      end = batch.end
      if past.memoryBytes > shared.configuration.windowBytes {
        try store.commitFill(past, isDone: false)
        past.markSaved(keepingBytes: shared.configuration.windowBytes / 2)
      }
    }
    try store.commitFill(past, isDone: true)
    shared.say(.info, "reports.filled", "filled \(names)")
    return true
  }

  /// What the service shows of itself from here on.
  func tell(_ subscriber: Subscriber?, trouble: String) {
    let bus = subscriber?.status
    guard let core else { return }
    shared.state.withLock { state in
      state.status.progress = core.progress
      state.status.watermark = core.watermark == .min ? nil : core.watermark
      state.status.conflicts = core.doubles.conflictCount
      state.status.joins = core.people.count
      state.status.joinsLeftOut = core.people.leftOut
      state.status.forgotten = core.forgotten.count
      state.status.trouble = trouble
      state.status.reports = core.reports.map(AggregatorStatus.Report.init)
      if let bus {
        state.status.isConnected = bus.isConnected
        state.status.head = max(bus.head, core.progress.cursor.offset)
        state.status.lag = state.status.head - core.progress.cursor.offset
      }
    }
  }
}

extension AggregatorStatus.Report {
  init(_ run: ReportRun) {
    let definition = run.plan.definition
    name = definition.name
    title = definition.title
    window = definition.window.rawValue
    zone = definition.zone
    events = run.counters.matched
    late = run.counters.late
    withoutUser = run.counters.withoutUser
    windowBytes = run.windowBytes
    (by, measures) = ([], [])
    kind = definition.content.kind
    if case .measures(let list, let dimensions) = definition.content {
      by = dimensions.map(\.name)
      measures = list.map(\.label)
    }
  }
}
