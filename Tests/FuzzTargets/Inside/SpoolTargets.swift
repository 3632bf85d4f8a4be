// What a producer put on disk when the broker was away.
//
//   spool  rows changed so (RowChanges.swift) are refused as damage, or go out in order, and once
#if DEBUG || FUZZING
  @testable internal import BusClient
  internal import BusProtocol
  internal import Database
  internal import Primitives

  let spoolTargets = [FuzzTarget("spool", seeds: spoolChanges.seeds, isSlow: true, run: readSpool)]

  private let spoolChanges = RowChanges(
    [.init(name: "producer", bytes: ["identity"])]
      + [1, 2, 3].map {
        .init(
          name: "batch", rows: "id = \($0)", numbers: ["id", "sequence", "events"],
          bytes: ["message"])
      })
  private let spoolPath = Scratch.folder("spool") + "/spool"
  let spoolIdentity = [UInt8](repeating: 1, count: 16)

  private let spoolFile = answer { () throws(DatabaseError) in
    _ = answer { () throws(BusClientError) in
      let spool = try Spool.open(spoolPath, maximumBytes: 1)
      return spool.events
    }
    let message = batch(2).message.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    return try SampleFile(
      spoolPath, versions: 1,
      setup: """
        INSERT INTO producer VALUES (1, x'01010101010101010101010101010101');
        INSERT INTO batch VALUES (1, 1, 2, x'\(message)');
        INSERT INTO batch VALUES (2, 2, 2, x'\(message)');
        INSERT INTO batch VALUES (3, NULL, 2, x'\(message)')
        """, spoolChanges)
  }

  private func readSpool(_ input: [UInt8]) throws(Violation) {
    let file = try accepted("the sample") { () throws(DatabaseError) in try spoolFile.get() }
    try file.change(input)
    let sent: Result<Void, Violation>
    do throws(BusClientError) {
      var spool = try Spool.open(spoolPath, maximumBytes: 1 << 20)
      _ = try spool.adopt(spoolIdentity, mayChange: true)
      sent = answer { () throws(Violation) in try send(&spool) }
    } catch {
      return try require("\(error)".contains(spoolPath), "\(error)")
    }
    try sent.get()
  }

  private func send(_ spool: inout Spool) throws(Violation) {
    var core = ProducerCore(
      .init(client: "c", producer: spoolIdentity, instance: [2]), seed: 1)
    let welcome = WelcomeMessage(
      token: 1, epoch: 1, storedSequence: 1, windowBytes: 1 << 20, broker: BrokerDescription())
    unsafe core.receive(welcome.encode().span.bytes, at: 0)
    _ = spool.append(batch(1))
    for _ in 0..<3 {
      let before = spool.events
      for batch in spool.load(limit: 2, after: core.lastSequence) { core.enqueue(batch) }
      var last = core.stored
      while core.sendNext(at: 0, { _ in true }) {
        let sequence = core.queue[core.sent - 1].sequence
        try require(sequence > last, "\(sequence) goes out after \(last)")
        last = sequence
      }
      let acknowledgement = AcknowledgeMessage(sequence: last, nextOffset: 1, windowBytes: 1 << 20)
      unsafe core.receive(acknowledgement.encode(token: 1).span.bytes, at: 0)
      let rows = core.takeActions().compactMap { action in
        if case .acknowledged(_, _, let row?) = action { row } else { nil as Int64? }
      }
      spool.delete(rows)
      try require(spool.events <= before, "\(before) events became \(spool.events)")
    }
    let events = spool.events
    let kept = spool.keep(before: [batch(1)], after: [batch(1)])
    try require(kept == 0 || kept == 2 && spool.events == events + 2, "\(kept) are kept")
  }
#endif
