// The spool: batches that did not fit in memory, in a SQLite file, drained in order before newer events.
//
//   user_version 1 (a newer one is refused)
//   producer   one row: id = 1, identity blob of 16 bytes: who published what the file holds
//   batch      id        rising in the order of publishing; lower ones are put before by `keep`
//              sequence  null until the batch is first sent: then written before it leaves, so that a
//                        run that follows sends it under the same number and the broker stores it once
//              events    how many
//              message   the PUBLISH message; its head is stamped anew when it is sent
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
  private static let sums =
    "ifnull(sum(min(max(events, 0), 65535)), 0), ifnull(sum(length(message)), 0)"

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
  /// A row that cannot be read, or whose sequence does not follow, ends the loading: nothing behind it goes
  /// out before it.
  mutating func load(limit: Int, after sequence: UInt64) -> [OutgoingBatch] {
    do throws(DatabaseError) {
      var next = max(sequence, lastSequence) + 1
      var rows: [(id: Int64, sequence: UInt64, message: [UInt8])] = []
      let (first, count) = (loaded, Int64(limit))
      try database.transaction { () throws(DatabaseError) in
        let find = try database.prepare(
          "SELECT id, sequence, message FROM batch WHERE id > ? ORDER BY id LIMIT ?")
        let number = try database.prepare("UPDATE batch SET sequence = ? WHERE id = ?")
        try find.bind(1, first)
        try find.bind(2, count)
        while try find.step() {
          let isNew = find.isNull(1)
          let sequence = isNew ? next : find.unsigned(1)
          rows.append((find.integer(0), sequence, find.bytes(2)))
          if sequence < .max >> 1 { next = max(next, sequence + 1) }
          guard isNew else { continue }
          try number.bind(1, sequence)
          try number.bind(2, find.integer(0))
          try number.run()
        }
      }
      var batches: [OutgoingBatch] = []
      for row in rows {
        let start = PublishMessage.batchStart
        guard row.sequence > lastSequence, row.sequence < .max >> 1, row.message.count > start,
          let batch = checked(row.message, from: start)
        else { break }
        batches.append(
          OutgoingBatch(
            message: row.message, batch: batch, sequence: row.sequence, row: row.id))
        loaded = row.id
        lastSequence = row.sequence
      }
      waiting -= batches.count
      return batches
    } catch {
      return []
    }
  }

  private func checked(_ message: [UInt8], from start: Int) -> Batch? {
    do throws(ProtocolError) {
      return try Batch(checking: unsafe message.span.bytes.extracting(start..<message.count))
    } catch {
      return nil
    }
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
      let sums = try database.prepare(
        "SELECT \(Self.sums) FROM batch")
      _ = try sums.step()
      events = Int(sums.integer(0))
      bytes = Int(sums.integer(1))
    } catch {
      // They stay, are sent again by the next run under the same numbers, and are stored once.
    }
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
