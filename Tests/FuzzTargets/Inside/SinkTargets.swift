// What publishers and apps keep.
//
//   letters    rows of a destination's state file changed so are refused as damage, or read; then more is
//              settled, stored, and read again
//   app-store  the same of the events and settings that an app keeps
#if DEBUG || FUZZING
  @testable internal import Analytics
  @testable internal import Destinations
  internal import BusProtocol
  internal import Database
  internal import Hashing
  internal import Primitives
  internal import SinkState

  let sinkTargets = [
    FuzzTarget("letters", seeds: letterChanges.seeds, isSlow: true, run: readLetters),
    FuzzTarget("app-store", seeds: appChanges.seeds, isSlow: true, run: readAppStore),
  ]

  // Dead letters

  private let letterChanges = RowChanges([
    progressTable, forgottenTable, .init(name: "people_key", bytes: ["key"]),
    .init(
      name: "letters", rows: "id = 1",
      numbers: [
        "id", "state", "epoch", "offset", "received", "died", "status", "tries", "edited", "bytes",
      ], bytes: ["origin", "reason", "answer", "route", "payload"]),
    .init(name: "letter_totals", numbers: ["count", "bytes", "queued", "dropped"]),
    .init(
      name: "status", numbers: ["time", "waiting", "oldest", "lag", "rate"],
      bytes: ["state", "reason", "json"]),
  ])

  /// What every sink keeps in its file.
  let progressTable = RowChanges.Table(
    name: "sink_progress",
    numbers: [
      "cursor_epoch", "cursor_offset", "seek_generation", "start_epoch", "start_offset", "applied",
      "duplicate", "refused", "dead", "forgotten", "not_matched", "missing", "skipped", "rewound",
    ])
  let forgottenTable = RowChanges.Table(
    name: "forgotten", numbers: ["epoch", "offset", "time"], bytes: ["person"])

  private let folder = DestinationFolder(data: Scratch.folder("letters"), name: "fuzz")
  private let now = Timestamp(nanoseconds: received)
  private let payload: [UInt8] = [0x81, 0xA6] + Array("userId".utf8) + [0xA1, 0x75]

  private func openStore() throws(DeliveryStoreError) -> DeliveryStore {
    try DeliveryStore(folder, route: "POST x", letterBytes: 2000, now: now)
  }

  /// Two more events of the bus, one of them a dead letter, and two dead letters that were sent again.
  private func settlement(_ progress: SinkProgress?) -> Settlement {
    var progress = progress ?? SinkProgress(start: Position(epoch: 1, offset: 0))
    let start = progress.cursor
    let limits = DestinationLimits(
      events: 10, requestBytes: 10_000, itemBytes: 1000, headBytes: 0)
    var core = DeliveryCore(
      DeliveryConfiguration(), limits: limits, progress: progress,
      peopleKey: KeyedHash(key: [UInt8](repeating: 1, count: KeyedHash.keyBytes)), seed: 1)
    func event(_ offset: UInt64?, letter: Int64? = nil, _ outcome: DeliveryOutcome) -> DeliveryEvent
    {
      let place = offset.map { Position(epoch: start.epoch, offset: start.offset + $0) }
      return DeliveryEvent(
        EventSource(position: place, received: now), letter: letter, key: 1, payload: payload,
        item: [], settled: outcome)
    }
    let refusal = Refusal(.destination, "bad", status: 400, answer: "no", tries: 2)
    core.take(letter: event(nil, letter: 1, .delivered), at: 0)
    core.take(letter: event(nil, letter: 2, .dead(refusal)), at: 0)
    let end = Position(epoch: start.epoch, offset: start.offset + 3)
    core.take(
      FeedBatch(
        entries: [.event(event(0, .dead(refusal))), .event(event(1, .delivered))], end: end),
      at: 0)
    guard let taken = core.takeSettlement() else { preconditionFailure("nothing is settled") }
    progress = taken.progress ?? progress
    precondition(progress.cursor == end, "the cursor is at \(progress.cursor)")
    return taken
  }

  private let letterFile = answer { () throws(DatabaseError) in
    _ = answer { () throws(DeliveryStoreError) in
      var store = try openStore()
      _ = answer { () throws(DatabaseError) in
        _ = try store.commit(settlement(nil), at: now)
        var status = DeliveryStatus(name: "fuzz", route: "POST x")
        status.waitingEvents = 3
        try store.writeStatus(status, json: "{}", at: now)
      }
    }
    return try SampleFile(
      folder.stateFile, versions: StateSchema.migrations.count,
      setup: """
        INSERT INTO letters SELECT 2, 1, epoch, offset, received, died, origin, reason, status, answer,
          tries, route, edited, bytes, payload FROM letters;
        INSERT INTO forgotten VALUES (zeroblob(16), 1, 2, 3)
        """, letterChanges)
  }

  private func readLetters(_ input: [UInt8]) throws(Violation) {
    let file = try accepted("the sample") { () throws(DatabaseError) in try letterFile.get() }
    try file.change(input)
    let status = answer { () throws(DatabaseError) in try StoredStatus(folder) }
    if case .failure(let error) = status { try file.requireDamage(error) }
    let used = answer { () throws(DeliveryStoreError) in
      var store = try openStore()
      return answer { () throws(DatabaseError) in try use(&store) }
    }
    switch used {
    case .failure(let error): throw Violation(description: "it does not open: \(error)")
    case .success(.failure(let error)): try file.requireDamage(error)
    case .success(.success(let (before, after))):
      let passed = before.map { after.passed(to: $0) } ?? 0
      try require(
        after.accounted == passed, "\(after) accounts for \(after.accounted) of \(passed)")
    }
  }

  private func use(
    _ store: inout DeliveryStore
  ) throws(DatabaseError) -> (cursor: Position?, ledger: SinkLedger) {
    let settlement = settlement(try store.progress())
    _ = try store.queuedLetters(from: .min, limit: 5)
    var ids: [Int64] = []
    try store.withDatabase { database throws(DatabaseError) in
      try DeadLetters.forEach(database) { letter in
        ids.append(letter.id)
        return true
      }
      for id in ids { _ = try DeadLetters.edit(id, payload: payload, in: database) }
    }
    _ = try store.commit(settlement, at: now)
    _ = try store.letterTotals()
    let progress = try store.progress()
    return (
      progress?.cursor, progress?.ledger ?? SinkLedger(start: Position(epoch: 0, offset: 0))
    )
  }

  // An app's store

  private let appChanges = RowChanges([
    .init(name: "event", rows: "id = 1", numbers: ["id"], bytes: ["body"]),
    .init(name: "event", rows: "id = 2", numbers: ["id"], bytes: ["body"]),
    .init(name: "setting", rows: "name = 'optedOut'", bytes: ["name", "value"]),
    .init(name: "setting", rows: "name = 'userId'", bytes: ["name", "value"]),
  ])
  private let appPath = Scratch.folder("app") + "/app"

  private let appFile = answer { () throws(DatabaseError) in
    let holder = StoreHolder(path: appPath)
    _ = holder.open()
    holder.close()
    return try SampleFile(
      appPath, versions: 1,
      setup: """
        INSERT INTO event VALUES (1, CAST('{"event":"A"}' AS BLOB));
        INSERT INTO event VALUES (2, CAST('{"event":"B","messageId":"m"}' AS BLOB));
        INSERT INTO setting VALUES ('optedOut', '0'), ('anonymousId', 'a'), ('userId', 'u'),
          ('version', '1'), ('build', '2')
        """, appChanges)
  }

  private func readAppStore(_ input: [UInt8]) throws(Violation) {
    let file = try accepted("the sample") { () throws(DatabaseError) in try appFile.get() }
    try file.change(input)
    let holder = StoreHolder(path: appPath)
    let opened = holder.open()
    defer { holder.close() }
    let settings = AnalyticsSettings(holder.settings)
    try require(AnalyticsSettings(settings.rows) == settings, "\(settings)")
    if let failure = opened.failure {
      try require(failure.contains(appPath) && opened.isReplaced, failure)
    }
    // What an earlier launch left is read before anything new comes, or later.
    let isLate = input.count % 2 == 1
    var core = AnalyticsClientCore(.init(endpoint: "http://h/"), firstID: 5)
    if !isLate { core.restore(opened.events) }
    core.storeOpened()
    if opened.isReplaced { core.storeReplaced() }
    core.append(Array(#"{"event":"C"}"#.utf8), at: 0)
    if isLate { core.restoreLate(opened.events) }
    core.flush(1)
    for action in core.actions(at: 0) {
      switch action {
      case .store(let save, let delete):
        try accepted("what it stores") { () throws(DatabaseError) in
          try holder.apply(save: save, delete: delete)
        }
        core.stored()
      case .send(let events, let attempt):
        let body = RequestBody.json(events, sentAt: now)
        try require(body.first == 0x5B && body.last == 0x5D, body.text)
        var random = SeededRandom(seed: 1)
        core.finish(.delivered(refused: [0: "no"]), attempt: attempt, at: 1, random: &random)
      case .answer: break
      }
    }
    let events = opened.events.count + 1
    let metrics = core.metrics
    try require(metrics.tracked + metrics.restored == events, "\(metrics) of \(events) events")
  }
#endif
