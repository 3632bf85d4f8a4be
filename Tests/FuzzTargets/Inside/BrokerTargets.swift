// A broker, and what its own file or its peers tell it.
//
//   cursors  rows of the cursor store changed so are refused as damage, or read; what reads is written as
//            what reads the same, and a broker works with it
//   broker   [what u8][length u16][message]...: whatever its peers say, all that the broker answers is a
//            message that a client can read, and what it took is on the disk in the end
//            what: bits 0, 1 the peer; 2 puts the peer's token in; 3 a tick after it; 4 the disk is slow;
//            5 a long pause; 6 the peer is gone
//   subscriptions  [what u8][length u16][topic]...: the live feed sends a name exactly while somebody
//            subscribes to a prefix of its topic. what % 4: subscribe, unsubscribe, a new name, a
//            connection ends; the rest is the connection
#if DEBUG || FUZZING
  @testable internal import BusBroker
  internal import BusProtocol
  internal import Database
  internal import Primitives

  let brokerTargets = [
    FuzzTarget("cursors", seeds: cursorChanges.seeds, isSlow: true, run: readCursors),
    FuzzTarget("broker", seeds: conversations, run: converse),
    FuzzTarget("subscriptions", seeds: subscriptionSteps, run: subscribeToAll),
  ]

  // Cursors

  private let cursorChanges = RowChanges([
    .init(
      name: "subscribers",
      numbers: [
        "offset", "epoch", "generation", "paused", "created", "seen", "delivered", "missed",
      ],
      bytes: ["name"]),
    .init(name: "filters", numbers: ["place"], bytes: ["subscriber", "kind", "text"]),
  ])

  private let cursorRows = """
    INSERT INTO subscribers VALUES (CAST('sink' AS BLOB), 2, 1, 3, 0, 1000, 2000, 4, 5);
    INSERT INTO filters VALUES (CAST('sink' AS BLOB), 0, 'glob', CAST('Game *' AS BLOB))
    """

  private let cursorFile = answer { () throws(DatabaseError) in
    let folder = Scratch.folder("cursors")
    do { _ = try CursorStore(directory: folder) }
    return try SampleFile(
      folder + "/cursors.sqlite", versions: 1, setup: cursorRows, cursorChanges)
  }

  private func readCursors(_ input: [UInt8]) throws(Violation) {
    let file = try accepted("the sample") { () throws(DatabaseError) in try cursorFile.get() }
    try file.change(input)
    let read = answer { () throws(DatabaseError) in
      let store = try CursorStore(directory: Scratch.folder + "/cursors")
      let records = try store.load()
      try store.write(records.map { .put($0) })
      return (records, try store.load())
    }
    switch read {
    case .failure(let error): try file.requireDamage(error)
    case .success((let records, let again)):
      try require(records == again, "\(records) became \(again)")
      var trial = try BrokerTrial(records)
      for record in records {
        for action in [AdminMessage.Action.show, .seek, .pause] {
          var admin = AdminMessage(request: 1, action: action)
          admin.arguments["name"] = .bytes(record.name)
          admin.setSeekTarget(.offset(1))
          try trial.take(admin.encode(), from: Peer(id: 1))
        }
        for start in [.cursor(otherwise: .latest), .earliest] as [StartPosition] {
          let open = OpenMessage(
            client: "c", name: record.name, filters: record.filters, start: start, instance: [1])
          try trial.take(open.encode(), from: Peer(id: 2))
          let token = trial.tokens[Peer(id: 2)] ?? 0
          try trial.take(
            CreditMessage(events: 9, bytes: 1 << 20).encode(token: token), from: Peer(id: 2))
        }
      }
      try trial.tick()
    }
  }

  // Peers

  private let conversations: [[UInt8]] = {
    var events = BatchBuilder()
    for name in ["A", "Game Ended"] {
      events.payloads += [0x81, 0xA4] + Array("type".utf8) + [0xA5] + Array("track".utf8)
      events.append(name: Array(name.utf8))
    }
    var publish: [UInt8] = []
    PublishMessage(sequence: 1, previous: 0, round: 0).encode(token: 0, into: &publish)
    events.build(into: &publish)
    let hello = HelloMessage(
      client: "c", producer: [UInt8](repeating: 1, count: 16), instance: [2], mayForget: true
    ).encode()
    func open(_ name: String, _ start: StartPosition) -> [UInt8] {
      OpenMessage(
        client: "c", name: Array(name.utf8), filters: [NameFilter(.glob, "*")], start: start,
        instance: [1]
      ).encode()
    }
    let credit = CreditMessage(events: 100, bytes: 1 << 20).encode(token: 0)
    let commit = CommitMessage(cursor: Position(epoch: 1, offset: 1)).encode(.commit, token: 0)
    func admin(_ action: AdminMessage.Action) -> [UInt8] {
      var admin = AdminMessage(request: 5, action: action)
      admin.arguments["name"] = .bytes(Array("sink".utf8))
      admin.setSeekTarget(.time(1_000))
      return admin.encode()
    }
    func steps(_ steps: [(UInt8, [UInt8])]) -> [UInt8] {
      steps.flatMap { what, message in
        [what, UInt8(message.count >> 8), UInt8(message.count & 0xFF)] + message
      }
    }
    return [
      steps([(0, hello), (4, publish), (4, publish), (0x14, publish), (0x20, hello)]),
      steps([
        (0, hello), (4, publish), (1, open("sink", .earliest)), (5, credit), (5, commit),
        (0x0D, MessageHeader(.ping).message), (2, admin(.seek)), (2, admin(.delete)),
      ]),
      steps([
        (1, open("", .offset(3))), (5, credit), (0, hello), (0x1C, publish), (0x41, []),
        (3, FetchMessage(request: 1, start: .time(0), filters: []).encode()), (3, admin(.status)),
        (3, admin(.consumers)), (2, open("sink", .cursor(otherwise: .time(5)))),
      ]),
    ]
  }()

  private func converse(_ input: [UInt8]) throws(Violation) {
    var trial = try BrokerTrial([])
    for (what, message) in steps(input) {
      let peer = Peer(id: UInt32(what & 3))
      var message = message
      if what & 4 != 0, message.count >= MessageHeader.byteCount {
        message.storeBigEndian(trial.tokens[peer] ?? 0, at: 4)
      }
      if what & 0x20 != 0 { trial.now += 20_000_000_000 }
      trial.isDiskSlow = what & 0x10 != 0
      if what & 0x40 != 0 { trial.core.peerLost(peer, isFull: message.isEmpty) }
      try trial.take(message, from: peer)
      if what & 8 != 0 { try trial.tick() }
    }
    trial.isDiskSlow = false
    try trial.tick()
    trial.core.drain()
    try trial.settle()
    let core = trial.core
    try require(core.isDrained && core.bytesInFlight == 0, "\(core.bytesInFlight) bytes are left")
    let metrics = core.metrics
    try require(
      metrics.eventsReceived
        == metrics.eventsStored + metrics.eventsRefused + metrics.eventsDuplicate,
      "the ledger does not add up: \(metrics)")
  }

  // Live feed

  private let subscriptionSteps: [[UInt8]] = {
    func step(_ what: UInt8, _ topic: String) -> [UInt8] {
      [what, 0, UInt8(topic.utf8.count)] + Array(topic.utf8)
    }
    return [
      step(2, "A") + step(0, "A\0") + step(4, "") + step(2, "Game Ended") + step(1, "A\0")
        + step(0, "$HEAD/A\0") + step(3, "") + step(5, ""),
      step(0, "Game ") + step(4, "Game ") + step(2, "Game Ended") + step(7, "") + step(1, "Game "),
    ]
  }()

  private func subscribeToAll(_ input: [UInt8]) throws(Violation) {
    let limits = LiveCore.Limits(topics: 6, topicBytes: 60, holdings: 8)
    var core = LiveCore(limits)
    var model: [[UInt8]: Set<UInt32>] = [:]
    for (what, topic) in steps(input) {
      let connection = UInt32(what >> 2)
      switch what & 3 {
      case 0:
        let (change, ended) = core.subscribe(topic, by: connection)
        for topic in model.keys { model[topic]?.subtract(ended) }
        if change != .refused { model[topic, default: []].insert(connection) }
      case 1:
        core.unsubscribe(topic, by: connection)
        model[topic]?.remove(connection)
      // The broker has checked it.
      case 2 where topic.isEmpty || topic.contains(0): continue
      case 2 where !core.names.contains(topic):
        var group = LiveGroup(chunk: nil, names: GroupNames(), head: 1)
        group.newNames = [topic]
        core.take(group)
      case 2: _ = core.beacon(topic, epoch: 1, time: 2)
      default:
        core.end([connection])
        for topic in model.keys { model[topic]?.remove(connection) }
      }
      let topics = model.filter { !$0.value.isEmpty }.keys
      try require(
        topics.count <= limits.topics && topics.reduce(0) { $0 + $1.count } <= limits.topicBytes
          && model.values.reduce(0) { $0 + $1.count } <= limits.holdings, "more than there may be")
      for (number, name) in core.names.enumerated() {
        let isWanted = topics.contains { (name + [0]).starts(with: $0) }
        try require(core.isWanted[number] == isWanted, "\(name.text) is wanted: \(!isWanted)")
      }
    }
  }

  /// Cuts an input into steps: `[what u8][length u16][bytes]...`.
  func steps(_ input: [UInt8]) -> [(what: UInt8, bytes: [UInt8])] {
    var steps: [(what: UInt8, bytes: [UInt8])] = []
    var rest = input[...]
    while steps.count < 24, rest.count >= 3 {
      let start = rest.startIndex
      let length = Int(rest[start + 1]) << 8 | Int(rest[start + 2])
      let bytes = rest.dropFirst(3).prefix(length)
      steps.append((rest[start], Array(bytes)))
      rest = rest[bytes.endIndex...]
    }
    return steps
  }
#endif
