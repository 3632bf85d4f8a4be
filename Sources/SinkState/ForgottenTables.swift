internal import BusProtocol
public import Database
public import Hashing
internal import Primitives

/// Forgotten people in SQLite: one row a person, by the keyed hash.
public enum ForgottenTables {
  public static let migration = """
    CREATE TABLE forgotten (
      person BLOB PRIMARY KEY, epoch INTEGER NOT NULL, offset INTEGER NOT NULL,
      time INTEGER NOT NULL) WITHOUT ROWID
    """

  public static func load(
    _ database: borrowing Database, key: KeyedHash, limit: Int = ForgottenPeople.defaultLimit
  ) throws(DatabaseError) -> ForgottenPeople {
    var people = ForgottenPeople(key: key, limit: limit)
    let rows = try database.prepare(
      "SELECT person, epoch, offset, time FROM forgotten ORDER BY time, epoch, offset")
    while try rows.step() {
      let bytes = rows.bytes(0)
      guard bytes.count == 16 else { continue }
      let span = unsafe bytes.span.bytes
      people.restore(
        ForgottenPeople.Entry(
          person: Hash128(high: span.bigEndian(at: 0), low: span.bigEndian(at: 8)),
          place: Position(epoch: UInt32(clamping: rows.integer(1)), offset: try rows.count(2)),
          time: rows.integer(3)))
    }
    return people
  }

  /// Stores what is new, inside the sink's transaction. Once that is through, call `markSaved`.
  public static func store(
    _ people: ForgottenPeople, in database: borrowing Database
  ) throws(DatabaseError) {
    let put = try database.prepare("INSERT OR REPLACE INTO forgotten VALUES (?, ?, ?, ?)")
    for entry in people.unsaved {
      try entry.bind(to: put)
      try put.run()
    }
  }
}

extension ForgottenPeople.Entry {
  /// Its person, epoch, offset and time as the values 1 to 4 of a statement.
  public func bind(to put: borrowing Statement) throws(DatabaseError) {
    var bytes: [UInt8] = []
    bytes.appendBigEndian(person.high)
    bytes.appendBigEndian(person.low)
    try put.bind(1, bytes)
    try put.bind(2, Int64(place.epoch))
    try put.bind(3, place.offset)
    try put.bind(4, time)
  }
}
