public import Database
internal import Hashing
internal import SinkState
public import Primitives

/// Opening the state file, also one that is damaged.
extension DeliveryStore {
  /// The file, with what was read of it to see that it is sound.
  struct Opened: ~Copyable {
    var database: Database
    var key: [UInt8]
    var people: ForgottenPeople
    /// What happened to it.
    var notices: [String] = []
  }

  static func open(
    _ folder: DestinationFolder, now: Timestamp
  ) throws(DeliveryStoreError) -> Opened {
    do throws(DatabaseError) {
      let database = try StateSchema.open(folder.stateFile)
      if try StateSchema.isSound(database) {
        // SQLite finds nothing wrong with a count that cannot be.
        _ = try SinkTables.load(database)
        let key = try key(of: database)
        let people = try ForgottenTables.load(database, key: KeyedHash(key: key))
        _ = try DeadLetters.totals(database)
        // Shows at once whether it can be written.
        try database.transaction { () throws(DatabaseError) in
          try database.execute("UPDATE letter_totals SET dropped = dropped")
        }
        return Opened(database: database, key: key, people: people)
      }
    } catch {
      guard error.kind == .corrupt else { throw .database(error) }
      return try beginAnew(folder, why: error.text, now: now)
    }
    return try beginAnew(folder, why: "its pages do not fit together", now: now)
  }

  private static func beginAnew(
    _ folder: DestinationFolder, why: String, now: Timestamp
  ) throws(DeliveryStoreError) -> Opened {
    var notices: [String] = []
    let database = try salvage(folder, why: why, now: now, &notices)
    do throws(DatabaseError) {
      let key = try key(of: database)
      return Opened(
        database: database, key: key, people: ForgottenPeople(key: KeyedHash(key: key)),
        notices: notices)
    } catch { throw .database(error) }
  }

  /// Moves the file aside, begins a new one, and takes over the dead letters that can still be read.
  static func salvage(
    _ folder: DestinationFolder, why: String, now: Timestamp, _ notices: inout [String]
  ) throws(DeliveryStoreError) -> Database {
    let aside: String
    do throws(SystemError) {
      aside = try folder.moveStateAside(at: now)
    } catch { throw .folder(error) }
    do throws(DatabaseError) {
      let database = try StateSchema.open(folder.stateFile)
      let (saved, lost) = try database.transaction { () throws(DatabaseError) -> (Int, String) in
        try takeOver(aside, into: database)
      }
      notices.append(
        "\(folder.stateFile) was damaged (\(why)) and is now \(aside); \(saved) dead letters were read "
          + "from it\(lost.isEmpty ? "" : ", then no more (\(lost))"); events go on where the bus has this "
          + "destination's cursor")
      return database
    } catch { throw .database(error) }
  }

  /// From the first on, and from the last back, as far as they can be read.
  private static func takeOver(
    _ path: String, into database: borrowing Database
  ) throws(DatabaseError) -> (saved: Int, lost: String) {
    var seen: Set<Int64> = []
    var lost = ""
    for order in ["ASC", "DESC"] {
      do throws(DatabaseError) {
        let damaged = try Database(path, migrations: StateSchema.migrations, erases: true)
        let rows = try damaged.prepare(
          "SELECT \(DeadLetters.columns) FROM letters ORDER BY id \(order)")
        while try rows.step() {
          let letter = DeadLetters.letter(rows)
          // A page of garbage may read as a row.
          guard !letter.payload.isEmpty, letter.id > 0 else { continue }
          guard seen.insert(letter.id).inserted else { break }
          try DeadLetters.insert(letter, in: database)
        }
        if order == "ASC" { break }
      } catch {
        guard error.path == path else { throw error }
        lost = error.text
      }
    }
    return (seen.count, lost)
  }

  /// Drops the dead letters of people who asked to be forgotten, from before they did.
  static func erase(
    _ mark: ForgetMark, key: KeyedHash, in database: borrowing Database
  ) throws(DatabaseError) {
    var theirs: [Int64] = []
    try DeadLetters.forEach(database) { letter in
      if letter.position < mark.place,
        unsafe mark.concerns(letter.payload.span.bytes, key: key)
      {
        theirs.append(letter.id)
      }
      return true
    }
    for id in theirs { _ = try DeadLetters.drop(id, in: database) }
  }

  /// The key of the hashes of forgotten people; made when there is none.
  static func key(of database: borrowing Database) throws(DatabaseError) -> [UInt8] {
    let row = try database.prepare("SELECT key FROM people_key")
    if try row.step(), row.bytes(0).count == KeyedHash.keyBytes { return row.bytes(0) }
    let key = SecureRandom.bytes(KeyedHash.keyBytes)
    try store(key, in: database)
    return key
  }

  static func store(_ key: [UInt8], in database: borrowing Database) throws(DatabaseError) {
    let put = try database.prepare("INSERT OR REPLACE INTO people_key VALUES (1, ?)")
    try put.bind(1, key)
    try put.run()
  }
}

/// Why a destination's state cannot be used, with what to do.
public enum DeliveryStoreError: Error, Hashable, Sendable, CustomStringConvertible {
  case folder(SystemError)
  case database(DatabaseError)

  public var description: String {
    switch self {
    case .folder(let error): "\(error): give --data a directory that can be written"
    case .database(let error): "\(error)"
    }
  }
}
