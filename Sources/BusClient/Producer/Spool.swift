// The spool: batches that did not fit in memory, in a SQLite file, drained in order before newer events.
//
//   user_version 1 (a newer one is refused)
//   producer   one row: id = 1, identity blob of 16 bytes: who published what the file holds
//   batch      id        rising in the order of publishing; lower ones are put before by `keep`
//              sequence  null until the batch is first sent: then written before it leaves, so that a
//                        run that follows sends it under the same number and the broker stores it once
//              events    how many
//              message   the PUBLISH message; its head is stamped anew when it is sent
//   aside      made when it is needed: rows of batch that could not be read, as they were, for a person to
//              look at; the newest 1000. why: what is wrong with it; time: when it was found, in seconds since 1970
//
// A row is deleted when the broker has acknowledged its batch. A process that is killed loses nothing
// of what is here; a machine that loses power may lose the last transactions (synchronous = NORMAL).
internal import BusProtocol
internal import Database
internal import Primitives

struct Spool: ~Copyable {
  private let database: Database
  private let insert: Statement
  private let maximumBytes: Int
  private var bytes: Int
  /// The last row that `load` gave out, and its sequence.
  private var loaded = Int64.min
  private var lastSequence: UInt64 = 0
  /// Rows that `load` has not given out.
  private var waiting: Int
  private(set) var events: Int
  /// What could not be read and was not yet told.
  private var damage: SpoolDamage?
  /// The last failure of the file, so that it is told once.
  private var failure = ""
  static let mostAside = 1000

  /// Opens or makes the file. One that is damaged or of a newer format is renamed, never deleted.
  static func open(_ path: String, maximumBytes: Int) throws(BusClientError) -> Spool {
    do throws(DatabaseError) {
      return try Spool(opening: path, maximumBytes)
    } catch {
      throw setAside(path, error)
    }
  }

  private init(opening path: String, _ maximumBytes: Int) throws(DatabaseError) {
    let database = try Database(path, migrations: [Self.schema], synchronous: .normal)
    let insert = try database.prepare(
      "INSERT INTO batch (id, sequence, events, message) VALUES (?, ?, ?, ?)")
    let sums = try database.prepare(
      "SELECT count(*), \(Self.sums) FROM batch")
    _ = try sums.step()
    waiting = Int(sums.integer(0))
    events = Int(sums.integer(1))
    bytes = Int(sums.integer(2))
    self.maximumBytes = maximumBytes
    self.insert = insert
    self.database = database
  }

  /// Events and bytes. A damaged count must not make a sum of which nothing can be taken.
  private static let sums = "ifnull(sum(\(counted)), 0), ifnull(sum(length(message)), 0)"
  private static let counted = "min(max(events, 0), 65535)"

  private static let schema = """
    CREATE TABLE producer (id INTEGER PRIMARY KEY CHECK (id = 1), identity BLOB NOT NULL);
    CREATE TABLE batch (id INTEGER PRIMARY KEY, sequence INTEGER, events INTEGER NOT NULL,
      message BLOB NOT NULL)
    """

  private static func setAside(_ path: String, _ error: DatabaseError) -> BusClientError {
    guard error.kind == .corrupt || error.kind == .newerSchema else {
      return .system(text: error.description)
    }
    let aside = "\(path).aside-\(SystemClock.realtime() / 1_000_000_000)"
    let isMoved: Bool
    do throws(SystemError) {
      isMoved = try DatabaseFiles.moveAside(path, to: aside)
    } catch { isMoved = false }
    return .configuration(
      text: "the spool cannot be read: \(error.description)."
        + (isMoved ? " It was renamed to \(aside); start again to begin a new one" : ""))
  }

  /// The identity to publish under: that of the events in the file while there are any.
  func adopt(_ identity: [UInt8], mayChange: Bool) throws(BusClientError) -> [UInt8] {
    if let identity = try adoptKnown(identity, mayChange: mayChange) { return identity }
    throw .configuration(
      text: "the spool \(database.path) holds \(events) events of another producer: send them "
        + "under its name first")
  }

  private func adoptKnown(
    _ identity: [UInt8], mayChange: Bool
  ) throws(BusClientError) -> [UInt8]? {
    do throws(DatabaseError) {
      let find = try database.prepare("SELECT identity FROM producer")
      if try find.step(), events > 0 {
        let known = find.bytes(0)
        if known == identity || mayChange, known.count == 16 { return known }
        return nil
      }
      let write = try database.prepare("REPLACE INTO producer (id, identity) VALUES (1, ?)")
      try find.reset()
      try write.bind(1, identity)
      try write.run()
      return identity
    } catch {
      throw .system(text: error.description)
    }
  }

  /// Whether everything here was given out by `load`.
  var isDrained: Bool { waiting == 0 }

  /// Adds a batch behind all others; false when it does not fit or cannot be written.
  mutating func append(_ batch: OutgoingBatch) -> Bool {
    guard bytes + batch.message.count <= maximumBytes else { return false }
    do throws(DatabaseError) {
      try write(batch, id: nil)
    } catch {
      return false
    }
    waiting += 1
    return true
  }

  private mutating func write(_ batch: OutgoingBatch, id: Int64?) throws(DatabaseError) {
    if let id { try insert.bind(1, id) } else { try insert.bindNull(1) }
    if batch.sequence == 0 { try insert.bindNull(2) } else { try insert.bind(2, batch.sequence) }
    try insert.bind(3, Int64(batch.events))
    try insert.bind(4, batch.message)
    try insert.run()
    bytes += batch.message.count
    events += batch.events
  }

  /// The next batches, each with the sequence it is to be sent under, which is on disk by now.
  ///
  /// A row that cannot be read, or whose sequence does not follow, is set aside: it would hold up all that is
  /// behind it. A file that is damaged is not read on in this run; the next one renames it.
  mutating func load(limit: Int, after sequence: UInt64) -> [OutgoingBatch] {
    do throws(DatabaseError) {
      let (first, last) = (loaded, lastSequence)
      let found = try database.transaction { () throws(DatabaseError) in
        let found = try read(limit, from: first, last, next: max(sequence, last) + 1)
        if !found.bad.isEmpty { try setAside(found.bad) }
        return found
      }
      for batch in found.batches { lastSequence = batch.sequence }
      loaded = found.end
      waiting -= found.batches.count + found.bad.count
      if !found.bad.isEmpty {
        damage = SpoolDamage(found.bad, database.path)
        try recount()
      }
      failure = ""
      return found.batches
    } catch {
      if error.kind == .corrupt { waiting = 0 }
      if failure != error.description { damage = SpoolDamage(error, events) }
      failure = error.description
      return []
    }
  }

  /// What `load` could not read since the last call.
  mutating func takeDamage() -> SpoolDamage? { damage.take() }

  private struct Found {
    var batches: [OutgoingBatch] = []
    var bad: [SpoolDamage.Row] = []
    /// The last row.
    var end: Int64
  }

  private func read(
    _ limit: Int, from first: Int64, _ last: UInt64, next: UInt64
  ) throws(DatabaseError) -> Found {
    let find = try database.prepare(
      "SELECT id, sequence, message, \(Self.counted) FROM batch WHERE id > ? ORDER BY id LIMIT ?")
    let number = try database.prepare("UPDATE batch SET sequence = ? WHERE id = ?")
    var found = Found(end: first)
    var (last, next) = (last, next)
    try find.bind(1, first)
    try find.bind(2, Int64(limit))
    while try find.step() {
      let isNew = find.isNull(1)
      let sequence = isNew ? next : find.unsigned(1)
      let id = find.integer(0)
      found.end = id
      if sequence < .max >> 1 { next = max(next, sequence + 1) }
      switch Self.batch(find.bytes(2), sequence, row: id, after: last) {
      case .failure(let fault):
        found.bad.append(.init(id: id, events: Int(find.integer(3)), why: fault.why))
      case .success(let batch):
        found.batches.append(batch)
        last = sequence
        guard isNew else { continue }
        try number.bind(1, sequence)
        try number.bind(2, id)
        try number.run()
      }
    }
    return found
  }

  private func setAside(_ rows: [SpoolDamage.Row]) throws(DatabaseError) {
    try database.execute(
      """
      CREATE TABLE IF NOT EXISTS aside (id INTEGER PRIMARY KEY, sequence, events, message, why, time)
      """)
    let copy = try database.prepare(
      """
      INSERT INTO aside (sequence, events, message, why, time)
      SELECT sequence, events, message, ?2, ?3 FROM batch WHERE id = ?1
      """)
    let delete = try database.prepare("DELETE FROM batch WHERE id = ?")
    for row in rows {
      try copy.bind(1, row.id)
      try copy.bind(2, row.why)
      try copy.bind(3, SystemClock.realtime() / 1_000_000_000)
      try copy.run()
      try delete.bind(1, row.id)
      try delete.run()
    }
    try database.execute(
      "DELETE FROM aside WHERE id <= (SELECT max(id) FROM aside) - \(Self.mostAside)")
  }

  private struct Fault: Error { var why: String }

  private static func batch(
    _ message: [UInt8], _ sequence: UInt64, row: Int64, after last: UInt64
  ) -> Result<OutgoingBatch, Fault> {
    guard sequence > last, sequence < .max >> 1 else {
      return .failure(Fault(why: "its number \(sequence) does not follow \(last)"))
    }
    let start = PublishMessage.batchStart
    guard message.count > start else {
      return .failure(Fault(why: "its message has \(message.count.counted("byte")) only"))
    }
    do throws(ProtocolError) {
      let batch = try Batch(checking: unsafe message.span.bytes.extracting(start..<message.count))
      return .success(OutgoingBatch(message: message, batch: batch, sequence: sequence, row: row))
    } catch { return .failure(Fault(why: "its message is damaged: \(error)")) }
  }

  /// Forgets batches that the broker has.
  mutating func delete(_ rows: [Int64]) {
    do throws(DatabaseError) {
      try database.transaction { () throws(DatabaseError) in
        let delete = try database.prepare("DELETE FROM batch WHERE id = ?")
        for row in rows {
          try delete.bind(1, row)
          try delete.run()
        }
      }
      try recount()
    } catch {
      // They stay, are sent again by the next run under the same numbers, and are stored once.
    }
  }

  private mutating func recount() throws(DatabaseError) {
    let sums = try database.prepare("SELECT \(Self.sums) FROM batch")
    _ = try sums.step()
    events = Int(sums.integer(0))
    bytes = Int(sums.integer(1))
  }

  /// Writes what a producer that ends still holds, before and behind what is here; returns the events
  /// that were written. Not bounded by `maximumBytes`, since memory was.
  mutating func keep(before: [OutgoingBatch], after: [OutgoingBatch]) -> Int {
    let start = events
    do throws(DatabaseError) {
      try database.execute("BEGIN IMMEDIATE")
      let find = try database.prepare("SELECT ifnull(min(id), 0) FROM batch")
      _ = try find.step()
      let (first, overflow) = min(0, find.integer(0)).subtractingReportingOverflow(
        Int64(before.count))
      try find.reset()
      guard !overflow else {
        throw DatabaseError(
          kind: .corrupt, path: database.path, text: "nothing fits before its first row")
      }
      for (index, batch) in before.enumerated() { try write(batch, id: first + Int64(index)) }
      for batch in after { try write(batch, id: nil) }
      try database.execute("COMMIT")
    } catch {
      events = start
    }
    return events - start
  }
}
