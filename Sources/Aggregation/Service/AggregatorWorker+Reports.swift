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

  /// Makes these the reports that count from here on. Those that are to be filled follow when they are.
  mutating func take(_ definitions: [ReportDefinition]) throws(AggregatorError) {
    guard let progress = core?.progress else { return }
    self.definitions = definitions
    // One that was on its way begins again, as the file may have changed it.
    fill = nil
    let isPast = progress.cursor != progress.ledger.start
    let (stored, new) = try store.match(definitions, marksFilling: isPast)
    if isPast {
      for name in new { shared.say(.info, "reports.new", "report \(name) begins") }
    }
    let filling =
      isPast ? stored.filter { $0.definition.fills && new.contains($0.definition.name) } : []
    core?.setReports(stored.filter { report in !filling.contains { $0.id == report.id } })
    if !filling.isEmpty {
      let forgotten = core?.forgotten ?? ForgottenPeople(key: store.key)
      fill = try ReportFill(filling, shared.configuration, store, forgotten: forgotten)
      let names = filling.map(\.definition.name).joined(separator: ", ")
      shared.say(.info, "reports.fill", "filling \(names) from the journal")
    }
    shared.state.withLock { $0.definitions = definitions }
    tell(nil, trouble: "")
  }

  /// A batch of the past for new reports: when nothing is to be counted live, or the live counting has had
  /// as long as the last one took. So each has half of the time under load, and live numbers come later by
  /// one batch of the past, a few milliseconds.
  mutating func fillOn(
    _ subscriber: Subscriber, after liveTime: Int64, isIdle: Bool
  ) throws(AggregatorError) {
    guard let fill, let cursor = core?.progress.cursor else { return }
    liveTurn += liveTime
    guard isIdle || liveTurn >= fillTurn else { return }
    let begun = SystemClock.monotonic()
    let isThrough = try fill.advance(to: cursor, wait: .milliseconds(isIdle ? 20 : 0))
    (liveTurn, fillTurn) = (0, SystemClock.monotonic() - begun)
    guard isThrough else { return }
    // Up to the same place, stored first: a kill in between fills again, and counts nothing twice.
    try commit(subscriber, SystemClock.monotonic())
    if shared.isStopping { return }
    try fill.finish(at: cursor)
    self.fill = nil
    core?.setReports(try store.match(definitions, marksFilling: false).reports)
    shared.say(.info, "reports.filled", "filled \(fill.names.joined(separator: ", "))")
    tell(nil, trouble: "")
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
      state.status.filling = fill.map { AggregatorStatus.Filling($0.names, at: $0.end.offset) }
      if let bus {
        state.status.isConnected = bus.isConnected
        state.status.link = bus.link
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
    events = run.counters.events
    expired = run.counters.expired
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
