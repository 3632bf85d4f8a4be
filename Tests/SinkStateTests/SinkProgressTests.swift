import BusProtocol
import Database
import SinkState
import TestSupport
import Testing

@Suite struct SinkProgressTests {
  static let start = Position(epoch: 1, offset: 10)

  @Test func `what was passed and not counted did not match`() {
    var progress = SinkProgress(start: Self.start)
    progress.ledger.applied += 3
    progress.ledger.duplicate += 1
    progress.advance(to: Position(epoch: 1, offset: 20))
    #expect(progress.ledger.notMatched == 6)
    #expect(progress.ledger.isBalanced(at: progress.cursor))
  }

  @Test func `a gap counts as missing and a seek as skipped`() {
    var progress = SinkProgress(start: Self.start)
    progress.jump(to: Position(epoch: 1, offset: 15), .gap)
    progress.jump(to: Position(epoch: 1, offset: 22), .seek)
    #expect(progress.ledger.missing == 5)
    #expect(progress.ledger.skipped == 7)
    #expect(progress.ledger.isBalanced(at: progress.cursor))
  }

  @Test func `a new epoch that begins below the cursor keeps the ledger balanced`() {
    var progress = SinkProgress(start: Self.start)
    progress.ledger.applied += 10
    progress.advance(to: Position(epoch: 1, offset: 20))
    progress.jump(to: Position(epoch: 2, offset: 14), .gap)
    progress.ledger.applied += 6
    progress.advance(to: Position(epoch: 2, offset: 20))
    #expect(progress.ledger.applied == 16)
    #expect(progress.ledger.rewound == 6)
    #expect(progress.ledger.isBalanced(at: progress.cursor))
  }

  @Test func `an event that nothing became of unbalances the ledger`() {
    var ledger = SinkLedger(start: Self.start)
    ledger.applied = 4
    #expect(ledger.isBalanced(at: Position(epoch: 1, offset: 14)))
    #expect(!ledger.isBalanced(at: Position(epoch: 1, offset: 15)))
  }

  @Test func `cursor, generation and every count come back from the file`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/sink.sqlite"
    var ledger = SinkLedger(start: Position(epoch: 3, offset: 1 << 59))
    ledger.applied = 1
    ledger.duplicate = 2
    ledger.refused = 3
    ledger.dead = 4
    ledger.forgotten = 5
    ledger.notMatched = 6
    ledger.missing = 7
    ledger.skipped = 8
    ledger.rewound = 1 << 59
    let progress = SinkProgress(
      cursor: Position(epoch: .max, offset: 1 << 60 - 1), seekGeneration: 9, ledger: ledger)
    do {
      let database = try Database(path, migrations: [SinkTables.migration])
      #expect(try SinkTables.load(database) == nil)
      try database.transaction { () throws(DatabaseError) in
        try SinkTables.store(SinkProgress(start: Self.start), in: database)
        try SinkTables.store(progress, in: database)
      }
    }
    let database = try Database(path, migrations: [SinkTables.migration])
    #expect(try SinkTables.load(database) == progress)
  }

  @Test(arguments: [
    "applied = 5", "cursor_offset = 3", "start_offset = 20", "dead = -1", "rewound = 1 << 60",
    "cursor_offset = -1", "seek_generation = -1", "applied = -1, duplicate = 1",
  ])
  func `a ledger that cannot be is refused as damage`(_ change: String) throws {
    let folder = try TemporaryFolder()
    let database = try Database(folder.file("sink"), migrations: [SinkTables.migration])
    var progress = SinkProgress(start: Self.start)
    progress.ledger.applied = 4
    progress.advance(to: Position(epoch: 1, offset: 14))
    try SinkTables.store(progress, in: database)
    #expect(try SinkTables.load(database) == progress)
    try database.execute("UPDATE sink_progress SET \(change)")
    let error = #expect(throws: DatabaseError.self) { try SinkTables.load(database) }
    #expect(error?.kind == .corrupt)
  }
}
