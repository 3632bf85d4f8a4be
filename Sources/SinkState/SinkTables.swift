// What every sink keeps in its own SQLite file, written in the transaction of its data:
//
//   sink_progress   one row: cursor, seek generation, ledger. Offsets and counts are the bits of a u64
//
// Doubles and forgotten people have tables of their own: DoublesTables.swift, ForgottenTables.swift.
internal import BusProtocol
public import Database

/// Cursor and ledger in SQLite.
///
/// The functions belong inside the sink's `Database.transaction`, so that its data and its cursor take
/// effect together.
public enum SinkTables {
  /// One version of `Database.init(migrations:)`, or a part of one.
  public static let migration = """
    CREATE TABLE sink_progress (
      one INTEGER PRIMARY KEY CHECK (one = 1),
      cursor_epoch INTEGER NOT NULL, cursor_offset INTEGER NOT NULL,
      seek_generation INTEGER NOT NULL,
      start_epoch INTEGER NOT NULL, start_offset INTEGER NOT NULL,
      applied INTEGER NOT NULL, duplicate INTEGER NOT NULL, refused INTEGER NOT NULL,
      dead INTEGER NOT NULL, forgotten INTEGER NOT NULL, not_matched INTEGER NOT NULL,
      missing INTEGER NOT NULL, skipped INTEGER NOT NULL, rewound INTEGER NOT NULL
    )
    """

  /// Nil for a sink that has stored nothing yet.
  ///
  /// - Throws: also where the ledger counts more than the cursor has passed: `advance` relies on it.
  public static func load(
    _ database: borrowing Database
  ) throws(DatabaseError) -> SinkProgress? {
    let row = try database.prepare(
      """
      SELECT cursor_epoch, cursor_offset, seek_generation, start_epoch, start_offset, applied,
        duplicate, refused, dead, forgotten, not_matched, missing, skipped, rewound
      FROM sink_progress
      """)
    guard try row.step() else { return nil }
    func position(_ column: Int32) throws(DatabaseError) -> Position {
      Position(epoch: UInt32(clamping: row.integer(column)), offset: try row.count(column + 1))
    }
    var ledger = SinkLedger(start: try position(3))
    ledger.applied = try row.count(5)
    ledger.duplicate = try row.count(6)
    ledger.refused = try row.count(7)
    ledger.dead = try row.count(8)
    ledger.forgotten = try row.count(9)
    ledger.notMatched = try row.count(10)
    ledger.missing = try row.count(11)
    ledger.skipped = try row.count(12)
    ledger.rewound = try row.count(13)
    let cursor = try position(0)
    guard ledger.start.offset <= cursor.offset + ledger.rewound,
      ledger.accounted <= ledger.passed(to: cursor)
    else {
      throw DatabaseError(
        kind: .corrupt, path: database.path,
        text: "its ledger counts \(ledger.accounted) events, and its cursor has not passed so many")
    }
    return SinkProgress(
      cursor: cursor, seekGeneration: try row.count(2), ledger: ledger)
  }

  public static func store(
    _ progress: SinkProgress, in database: borrowing Database
  ) throws(DatabaseError) {
    let put = try database.prepare(
      """
      INSERT OR REPLACE INTO sink_progress VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    let ledger = progress.ledger
    try put.bind(1, Int64(progress.cursor.epoch))
    try put.bind(2, progress.cursor.offset)
    try put.bind(3, progress.seekGeneration)
    try put.bind(4, Int64(ledger.start.epoch))
    try put.bind(5, ledger.start.offset)
    let counts = [
      ledger.applied, ledger.duplicate, ledger.refused, ledger.dead, ledger.forgotten,
      ledger.notMatched, ledger.missing, ledger.skipped, ledger.rewound,
    ]
    for (index, count) in counts.enumerated() { try put.bind(6 + Int32(index), count) }
    try put.run()
  }
}
