// What an aggregator counts and keeps.
//
//   window        [report u8][window]: what reads is written as what reads the same; it can be merged,
//                 erased from and answered with, and the answer is JSON
//   report-store  rows of the aggregator's file changed so are refused as damage, or go on: events are
//                 counted, stored and answered, and the ledger adds up
//   counted       [name, to the first U+0000][payload]: whatever the event, reports take it or count it as
//                 refused, and answer in JSON
#if DEBUG || FUZZING
  @testable internal import Aggregation
  internal import BusProtocol
  internal import Database
  internal import EventCodec
  internal import EventModel
  internal import Hashing
  internal import Primitives
  internal import SinkState

  let reportTargets = [
    FuzzTarget("window", seeds: windows, run: readWindow),
    FuzzTarget("report-store", seeds: reportChanges.seeds, isSlow: true, run: readReportStore),
    FuzzTarget(
      "counted", seeds: payloads + [samples[0] + [0] + samples[1]], isSlow: true, run: count),
  ]

  private let reports = """
    {"defaults": false, "reports": [
    {"name": "m", "measures": ["count", {"unique": "user"}, "people", {"sum": "properties.value"},
      {"mean": "properties.value"}, {"quantiles": "properties.value"}, {"top": "properties.p"},
      {"histogram": "properties.value", "bounds": [1, 10]}], "by": ["event", "properties.p"],
      "window": "hour", "zone": "Europe/Berlin", "limit": 2},
    {"name": "f", "funnel": ["A", "B"], "within": "1h"},
    {"name": "r", "retention": {"first": "A", "back": "*"}, "window": "week"},
    {"name": "s", "sessions": {"gap": "30m"}}]}
    """

  private let loaded = answer { () throws(ReportFileError) in
    try ReportFile.parse(Array(reports.utf8), path: "f")
  }
  private let key = [UInt8](repeating: 1, count: KeyedHash.keyBytes)
  private let samples: [[UInt8]] = {
    let texts = [
      #"{"event": "A", "messageId": "1", "userId": "u", "timestamp": "2024-05-01T12:00:00Z", "properties": {"value": 21, "p": "x"}}"#,
      #"{"event": "B", "messageId": "2", "userId": "u", "timestamp": "2024-05-01T12:10:00Z", "properties": {"value": 1.5, "p": 7}}"#,
      #"{"event": "B", "messageId": "3", "anonymousId": "a", "timestamp": "2024-05-01T12:20:00Z", "properties": {"value": -3, "p": [1]}}"#,
      #"{"type": "identify", "messageId": "4", "userId": "u", "anonymousId": "a", "timestamp": "2024-05-08T13:00:00Z"}"#,
    ]
    return texts.flatMap { text -> [[UInt8]] in
      var reader = JSONEventReader()
      var payload: [UInt8] = []
      let bytes = Array(text.utf8)
      let topic = answer { () throws(CodecError) in
        try reader.read(unsafe bytes.span.bytes, received: received, into: &payload)
      }
      guard case .success(let topic) = topic else { return [] }
      return [topic, payload]
    }
  }()

  /// Nothing is stored.
  private final class Nothing: StateSource {
    func window(report: Int64, start: Int64) throws(AggregatorError) -> [UInt8]? { nil }
    func track(report: Int64, user: UInt64) throws(AggregatorError) -> [UInt8]? { nil }
  }

  /// Takes the sample's events behind what it has.
  private func feed(
    _ core: inout AggregatorCore, _ events: [[UInt8]], from source: some StateSource
  ) throws(AggregatorError) {
    let start = core.progress.cursor
    var offset = start.offset
    for index in stride(from: 0, to: events.count, by: 2) {
      let (name, payload) = (events[index], events[index + 1])
      try unsafe core.take(
        payload.span.bytes, name: name.span.bytes,
        at: .init(position: Position(epoch: start.epoch, offset: offset), time: received),
        from: source)
      offset += 1
    }
    try core.finish(from: source)
    core.progress.advance(to: Position(epoch: start.epoch, offset: offset))
  }

  private func emptyCore(_ key: KeyedHash) -> AggregatorCore {
    AggregatorCore(
      progress: SinkProgress(start: Position(epoch: 1, offset: 0)),
      doubles: Doubles(key: key, horizon: 100), forgotten: ForgottenPeople(key: key))
  }

  private func known() throws(Violation) -> [ReportDefinition] {
    try accepted("the reports") { () throws(ReportFileError) in try loaded.get() }
  }

  // Windows

  private let windows: [[UInt8]] = {
    guard case .success(let definitions) = loaded else { return [] }
    var core = emptyCore(KeyedHash(key: key))
    core.setReports(
      definitions.enumerated().map { .init(id: Int64($0.offset), definition: $0.element) })
    _ = answer { () throws(AggregatorError) in
      try feed(&core, samples + samples, from: Nothing())
    }
    return core.reports.flatMap { report in
      report.changedWindows.map { [UInt8(report.id)] + $0.encoded() }
    }
  }()

  private func readWindow(_ input: [UInt8]) throws(Violation) {
    let (choice, bytes) = input.chosen
    let definitions = try known()
    var table = SourceTable()
    let plan = ReportPlan(definitions[choice % definitions.count], &table)
    func read(_ bytes: [UInt8]) throws(StateError) -> WindowState {
      try WindowState(0..<3600, plan.shape, from: bytes)
    }
    guard case .success(let window) = answer({ () throws(StateError) in try read(bytes) })
    else { return }
    let once = window.encoded()
    let again = try accepted("what was written") { () throws(StateError) in try read(once) }
    // A set is written in the order of its table.
    try require(again.encoded().sorted() == once.sorted(), "\(once) became \(again.encoded())")
    let events = try accepted("its events") { () throws(StateError) in
      try WindowState.events(in: once)
    }
    try require(events == window.events, "\(events) events, not \(window.events)")
    var builder = AnswerBuilder(plan, ReportQuestion(groups: 1), watermark: 0, people: nil)
    builder.add(window)
    builder.add(again)
    if builder.needsSecondReading {
      builder.beginSecondReading()
      builder.show(window)
    }
    try check(builder.answer(ReportQuestion(groups: 1), ReportCounters()))
    var erased = window
    var persons = HashTable64()
    for person in [0, 1, .max] as [UInt64] { _ = persons.insert(person) }
    erased.erase(persons, plan.userSets)
    for _ in 0..<3 {
      _ = erased.cell([0xA1, UInt8(erased.cells.count)], limit: 2)
      erased.takeEvent(limit: 2)
    }
  }

  private func check(_ report: ReportAnswer) throws(Violation) {
    let json = report.json
    try accepted("an answer: \(json.text)") { () throws(JSONSyntaxError) in
      _ = try JSONDocumentParser.parse(json)
    }
    _ = (report.rows, report.summary, report.series?.points.count, report.remarks)
  }

  // The file

  private let reportChanges = RowChanges([
    progressTable, forgottenTable,
    .init(name: "doubles", numbers: ["first", "count", "latest"], bytes: ["entries"]),
    .init(name: "double_totals", numbers: ["conflicts"]),
    .init(name: "secret", bytes: ["key"]),
    .init(name: "clock", numbers: ["highest", "watermark"]),
    .init(
      name: "report",
      numbers: [
        "matched", "late", "without_user", "unreadable", "trimmed", "filling", "expired",
      ]),
    .init(name: "report", rows: "name = 'm'", numbers: ["id"], bytes: ["name", "signature"]),
    .init(name: "window", numbers: ["report", "start", "end"], bytes: ["state"]),
    .init(name: "window", rows: "report = 1", numbers: ["start", "end"], bytes: ["state"]),
    .init(name: "track", numbers: ["user"], bytes: ["state"]),
    .init(name: "joined", numbers: ["id", "person"]),
  ])

  private let storePath = Scratch.folder + "/reports/" + AggregatorStore.fileName

  private let reportFile = answer { () throws(AggregatorError) in
    let definitions: [ReportDefinition]
    do throws(ReportFileError) { definitions = try loaded.get() } catch { throw .reportFile(error) }
    _ = Scratch.folder("reports")
    try fill(definitions)
    do throws(DatabaseError) {
      return try SampleFile(
        storePath, versions: AggregatorStore.migrations.count,
        setup: "INSERT INTO forgotten VALUES (zeroblob(16), 1, 2, 3)", reportChanges)
    } catch { throw .database(error) }
  }

  private func fill(_ definitions: [ReportDefinition]) throws(AggregatorError) {
    let store = try AggregatorStore(storePath, key: key)
    var core = emptyCore(store.key)
    core.setReports(try store.match(definitions).reports)
    try feed(&core, samples, from: store)
    try store.commit(core)
  }

  private func readReportStore(_ input: [UInt8]) throws(Violation) {
    let file = try accepted("the sample") { () throws(AggregatorError) in try reportFile.get() }
    try file.change(input)
    let definitions = try known()
    var reports: [ReportAnswer] = []
    do throws(AggregatorError) {
      let reading = try openReading()
      for definition in definitions {
        if let report = try reading.answer(definition, ReportQuestion(groups: 1)) {
          reports.append(report)
        }
      }
    } catch { try requireDamage(error, file) }
    for report in reports { try check(report) }
    let used = answer { () throws(AggregatorError) in try goOn(definitions) }
    switch used {
    case .failure(let error): try requireDamage(error, file)
    case .success(let progress):
      if let progress {
        try require(progress.ledger.isBalanced(at: progress.cursor), "\(progress)")
      }
    }
  }

  private func openReading() throws(AggregatorError) -> ReportReading {
    do throws(DatabaseError) { return try ReportReading(storePath) } catch {
      throw .database(error)
    }
  }

  private func requireDamage(_ error: AggregatorError, _ file: SampleFile) throws(Violation) {
    switch error {
    case .database(let error): try file.requireDamage(error)
    case .damaged: break
    default: throw Violation(description: "\(error)")
    }
  }

  /// Counts the sample once more, as after a restart, and what was counted at the next one.
  private func goOn(_ definitions: [ReportDefinition]) throws(AggregatorError) -> SinkProgress? {
    let store = try AggregatorStore(storePath)
    guard var core = try store.load(100) else { return nil }
    core.setReports(try store.match(definitions).reports)
    try feed(&core, samples, from: store)
    let forget: [UInt8] = [0x81, 0xA6] + Array("userId".utf8) + [0xA1, 0x75]
    try feed(&core, [EventName.forget, forget], from: store)
    try store.commit(core)
    core.markSaved(keepingBytes: 0)
    return try store.load(100)?.progress
  }

  // Events

  private func count(_ input: [UInt8]) throws(Violation) {
    let (name, payload) = input.parted(at: 0)
    var core = emptyCore(KeyedHash(key: key))
    core.setReports(
      try known().enumerated().map { .init(id: Int64($0.offset), definition: $0.element) })
    try accepted("the event") { () throws(AggregatorError) in
      try feed(&core, [name, payload] + samples + [name, payload], from: Nothing())
    }
    try require(
      core.progress.ledger.isBalanced(at: core.progress.cursor)
        && core.progress.ledger.notMatched == 0, "\(core.progress)")
    for report in core.reports {
      var builder = AnswerBuilder(
        report.plan, ReportQuestion(), watermark: core.watermark, people: core.people)
      for window in report.changedWindows { builder.add(window) }
      try check(builder.answer(ReportQuestion(), report.counters))
    }
  }
#endif
