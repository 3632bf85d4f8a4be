public import Database
internal import BusProtocol
internal import Primitives

/// Dead letters in the destination's SQLite file (layout: ``StateSchema``).
///
/// The publisher and the commands of a person work on them at the same time: each of these calls is one
/// statement or belongs into the caller's transaction.
public enum DeadLetters {
  public struct Totals: Hashable, Sendable {
    public var count: UInt64 = 0
    public var bytes: UInt64 = 0
    /// Of `count`: to be sent again.
    public var queued: UInt64 = 0
    /// Dropped since the beginning, since the bound was reached.
    public var dropped: UInt64 = 0
  }

  static let columns = """
    id, state, epoch, offset, received, died, origin, reason, status, answer, tries, route, edited,
    payload
    """

  public static func totals(_ database: borrowing Database) throws(DatabaseError) -> Totals {
    let row = try database.prepare("SELECT count, bytes, queued, dropped FROM letter_totals")
    guard try row.step() else { return Totals() }
    return Totals(
      count: try row.count(0), bytes: try row.count(1), queued: try row.count(2),
      dropped: try row.count(3))
  }

  /// Calls `body` with each from `first` on, in order, until it returns false.
  public static func forEach(
    _ database: borrowing Database, from first: Int64 = 0, onlyQueued: Bool = false,
    _ body: (DeadLetter) throws(DatabaseError) -> Bool
  ) throws(DatabaseError) {
    let condition = onlyQueued ? "state = 1 AND id >= ?" : "id >= ?"
    let rows = try database.prepare(
      "SELECT \(columns) FROM letters WHERE \(condition) ORDER BY id")
    try rows.bind(1, first)
    while try rows.step() {
      guard try body(letter(rows)) else { return }
    }
  }

  public static func find(
    _ id: Int64, in database: borrowing Database
  ) throws(DatabaseError) -> DeadLetter? {
    let row = try database.prepare("SELECT \(columns) FROM letters WHERE id = ?")
    try row.bind(1, id)
    return try row.step() ? letter(row) : nil
  }

  /// Marks one to be sent again; false when it is gone.
  public static func queue(
    _ id: Int64, in database: borrowing Database
  ) throws(DatabaseError) -> Bool {
    try change("UPDATE letters SET state = 1 WHERE id = ? RETURNING id", id, database)
  }

  public static func drop(
    _ id: Int64, in database: borrowing Database
  ) throws(DatabaseError) -> Bool {
    try change("DELETE FROM letters WHERE id = ? RETURNING id", id, database)
  }

  /// Puts another event in its place; false when it is gone, or is being sent at this moment.
  public static func edit(
    _ id: Int64, payload: [UInt8], in database: borrowing Database
  ) throws(DatabaseError) -> Bool {
    let statement = try database.prepare(
      """
      UPDATE letters SET payload = ?2, edited = 1, bytes = ?3
      WHERE id = ?1 AND state = 0 RETURNING id
      """)
    try statement.bind(1, id)
    try statement.bind(2, payload)
    try statement.bind(3, Int64(payload.count + 500))
    let isThere = try statement.step()
    while try statement.step() {}
    return isThere
  }

  private static func change(
    _ text: String, _ id: Int64, _ database: borrowing Database
  ) throws(DatabaseError) -> Bool {
    let statement = try database.prepare(text)
    try statement.bind(1, id)
    let isThere = try statement.step()
    while try statement.step() {}
    return isThere
  }

  /// Stores a new one; the id is given by the file.
  static func insert(
    _ letter: DeadLetter, in database: borrowing Database
  ) throws(DatabaseError) {
    let put = try database.prepare(
      """
      INSERT INTO letters (state, epoch, offset, received, died, origin, reason, status, answer, tries,
        route, edited, payload, bytes)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    try put.bind(1, letter.state.rawValue)
    try put.bind(2, Int64(letter.position.epoch))
    try put.bind(3, letter.position.offset)
    try put.bind(4, letter.received.nanoseconds)
    try put.bind(5, letter.died.nanoseconds)
    try put.bind(6, letter.refusal.origin.rawValue)
    try put.bind(7, letter.refusal.reason)
    try put.bind(8, Int64(letter.refusal.status))
    try put.bind(9, letter.refusal.answer)
    try put.bind(10, Int64(letter.refusal.tries))
    try put.bind(11, letter.route)
    try put.bind(12, letter.isEdited ? 1 as Int64 : 0)
    try put.bind(13, letter.payload)
    // About what the row needs besides the event.
    try put.bind(14, Int64(letter.payload.count + 500))
    try put.run()
  }

  /// It was sent again and refused again.
  static func refuseAgain(
    _ id: Int64, _ refusal: Refusal, at time: Timestamp, in database: borrowing Database
  ) throws(DatabaseError) {
    let put = try database.prepare(
      """
      UPDATE letters SET state = 0, origin = ?2, reason = ?3, status = ?4, answer = ?5,
        tries = tries + ?6, died = ?7 WHERE id = ?1
      """)
    try put.bind(1, id)
    try put.bind(2, refusal.origin.rawValue)
    try put.bind(3, refusal.reason)
    try put.bind(4, Int64(refusal.status))
    try put.bind(5, refusal.answer)
    try put.bind(6, Int64(refusal.tries))
    try put.bind(7, time.nanoseconds)
    try put.run()
  }

  /// Drops the oldest until `limit` is kept; returns how many.
  static func shrink(
    to limit: Int, in database: borrowing Database
  ) throws(DatabaseError) -> Int {
    var dropped = 0
    while try totals(database).bytes > UInt64(max(0, limit)) {
      let statement = try database.prepare(
        """
        DELETE FROM letters WHERE id IN (SELECT id FROM letters ORDER BY id LIMIT 100) RETURNING id
        """)
      var count = 0
      while try statement.step() { count += 1 }
      if count == 0 { break }
      dropped += count
      try database.execute("UPDATE letter_totals SET dropped = dropped + \(count)")
    }
    return dropped
  }

  static func letter(_ row: borrowing Statement) -> DeadLetter {
    var refusal = Refusal(
      Refusal.Origin(rawValue: row.text(6)) ?? .destination, "", status: Int(row.integer(8)),
      answer: row.text(9), tries: Int(row.integer(10)))
    refusal.reason = row.text(7)
    return DeadLetter(
      id: row.integer(0), state: DeadLetter.State(rawValue: row.integer(1)) ?? .kept,
      position: Position(epoch: UInt32(clamping: row.integer(2)), offset: row.unsigned(3)),
      received: Timestamp(nanoseconds: row.integer(4)),
      died: Timestamp(nanoseconds: row.integer(5)), refusal: refusal, route: row.text(11),
      isEdited: row.integer(12) != 0, payload: row.bytes(13))
  }
}
