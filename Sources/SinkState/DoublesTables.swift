// What `Doubles` remembers, in a sink's SQLite file:
//
//   doubles           first (serial of the first entry), count, latest (offset of the last event checked
//                     when the row was written), entries: `count` entries of 24 bytes, see DoubleRing.swift
//   double_conflicts  the latest conflicts: number, epoch, offset, name, message_id
//   double_totals     one row: how many conflicts there were
public import Database
public import Hashing
internal import BusProtocol

/// Doubles in SQLite: blobs of up to 65,536 entries, deleted once all of one is beyond the horizon.
public enum DoublesTables {
  public static let migration = """
    CREATE TABLE doubles (
      first INTEGER PRIMARY KEY, count INTEGER NOT NULL, latest INTEGER NOT NULL,
      entries BLOB NOT NULL);
    CREATE TABLE double_conflicts (
      number INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, offset INTEGER NOT NULL,
      name BLOB NOT NULL, message_id BLOB NOT NULL);
    CREATE TABLE double_totals (one INTEGER PRIMARY KEY CHECK (one = 1), conflicts INTEGER NOT NULL)
    """

  public static func load(
    _ database: borrowing Database, key: KeyedHash, horizon: Int = Doubles.defaultHorizon
  ) throws(DatabaseError) -> Doubles {
    var doubles = Doubles(key: key, horizon: horizon)
    let rows = try database.prepare(
      "SELECT first, count, latest, entries FROM doubles ORDER BY first")
    var isFirst = true
    var latest: UInt64 = 0
    while try rows.step() {
      let first = try rows.count(0)
      latest = try rows.count(2)
      if isFirst { doubles.restore(from: first) }
      isFirst = false
      let bytes = rows.bytes(3)
      // Else what is stored next would stand where something stands already.
      guard first == doubles.ring.live.upperBound,
        bytes.count.isMultiple(of: DoubleEntry.byteCount),
        try rows.count(1) == UInt64(bytes.count / DoubleEntry.byteCount)
      else { throw damaged(database, "a gap before number \(first), or behind it") }
      let span = unsafe bytes.span.bytes
      for index in 0..<bytes.count / DoubleEntry.byteCount {
        guard doubles.restore(DoubleEntry(decoding: span, at: index * DoubleEntry.byteCount)) else {
          throw damaged(database, "entries that are no hashes")
        }
      }
    }
    doubles.finishRestoring(latest: latest)
    try loadConflicts(database, into: &doubles)
    doubles.markSaved()
    return doubles
  }

  private static func damaged(
    _ database: borrowing Database, _ what: String
  ) -> DatabaseError {
    DatabaseError(
      kind: .corrupt, path: database.path, text: "its memory of doubles has \(what)")
  }

  private static func loadConflicts(
    _ database: borrowing Database, into doubles: inout Doubles
  ) throws(DatabaseError) {
    let rows = try database.prepare(
      "SELECT epoch, offset, name, message_id FROM double_conflicts ORDER BY number")
    while try rows.step() {
      doubles.conflicts.append(
        Doubles.Conflict(
          place: Position(epoch: UInt32(clamping: rows.integer(0)), offset: try rows.count(1)),
          name: rows.bytes(2), messageId: rows.bytes(3)))
    }
    let total = try database.prepare("SELECT conflicts FROM double_totals")
    if try total.step() { doubles.conflictCount = try total.count(0) }
  }

  /// Stores what came since `markSaved`, inside the sink's transaction. Once that is through, call
  /// `markSaved`.
  public static func store(
    _ doubles: Doubles, in database: borrowing Database
  ) throws(DatabaseError) {
    let live = doubles.ring.live
    let delete = try database.prepare("DELETE FROM doubles WHERE first + count <= ?")
    try delete.bind(1, live.lowerBound)
    try delete.run()
    var first = max(doubles.unsaved, live.lowerBound)
    if first < live.upperBound {
      var bytes = try takeSmallRows(database, before: &first, adding: live.upperBound - first)
      try write(doubles, first..<live.upperBound, after: &bytes, in: database)
    }
    if doubles.conflictCount != doubles.savedConflicts { try storeConflicts(doubles, database) }
  }

  /// Entries up to which small rows are put together: 393 KB, so that no small commit writes much more.
  private static let mergedEntries: UInt64 = 16_384

  /// Takes the rows at the end that are no larger than what is added, so that many small commits leave
  /// few rows and each entry is written a few times only.
  private static func takeSmallRows(
    _ database: borrowing Database, before first: inout UInt64, adding count: UInt64
  ) throws(DatabaseError) -> [UInt8] {
    let last = try database.prepare(
      "SELECT first, count, entries FROM doubles ORDER BY first DESC LIMIT 1")
    let delete = try database.prepare("DELETE FROM doubles WHERE first = ?")
    var bytes: [UInt8] = []
    var total = count
    while try last.step() {
      let (rowFirst, rowCount) = (last.unsigned(0), last.unsigned(1))
      guard rowCount <= total, rowCount + total <= mergedEntries,
        rowFirst &+ rowCount == first,
        last.bytes(2).count == Int(rowCount) * DoubleEntry.byteCount
      else { break }
      bytes = last.bytes(2) + bytes
      total += rowCount
      first = rowFirst
      try last.reset()
      try delete.bind(1, rowFirst)
      try delete.run()
    }
    return bytes
  }

  /// Writes the entries `serials`; those at their start are in `bytes` already.
  private static func write(
    _ doubles: Doubles, _ serials: Range<UInt64>, after bytes: inout [UInt8],
    in database: borrowing Database
  ) throws(DatabaseError) {
    let put = try database.prepare("INSERT INTO doubles VALUES (?, ?, ?, ?)")
    var first = serials.lowerBound
    while first < serials.upperBound {
      let end = min(first + UInt64(DoubleRing.pieceEntries), serials.upperBound)
      bytes.reserveCapacity(Int(end - first) * DoubleEntry.byteCount)
      for serial in first + UInt64(bytes.count / DoubleEntry.byteCount)..<end {
        doubles.ring[serial].encode(into: &bytes)
      }
      try put.bind(1, first)
      try put.bind(2, end - first)
      try put.bind(3, doubles.latest)
      try put.bind(4, bytes)
      try put.run()
      bytes.removeAll(keepingCapacity: true)
      first = end
    }
  }

  private static func storeConflicts(
    _ doubles: Doubles, _ database: borrowing Database
  ) throws(DatabaseError) {
    try database.execute("DELETE FROM double_conflicts")
    let put = try database.prepare("INSERT INTO double_conflicts VALUES (NULL, ?, ?, ?, ?)")
    for conflict in doubles.conflicts {
      try put.bind(1, Int64(conflict.place.epoch))
      try put.bind(2, conflict.place.offset)
      try put.bind(3, conflict.name)
      try put.bind(4, conflict.messageId)
      try put.run()
    }
    let total = try database.prepare("INSERT OR REPLACE INTO double_totals VALUES (1, ?)")
    try total.bind(1, doubles.conflictCount)
    try total.run()
  }
}
