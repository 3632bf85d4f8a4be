public import BusProtocol
internal import Database
public import Hashing
internal import Primitives
internal import SinkState

/// One request to forget a person, and what it did to the archive: the record that stays, without the
/// id.
public struct Erasure: Hashable, Sendable {
  public var id: Int64
  public var person: Hash128
  /// The `$forget` event: what lies before it is erased.
  public var place: Position
  /// Its journal time.
  public var time: Int64
  /// Parts that were written anew or removed for it so far, and events that went with it.
  public var parts: UInt64
  public var events: UInt64
  /// When all parts were through; nil while it goes on.
  public var finished: Int64?
}

extension Catalogue {
  /// All requests, in their order.
  public func erasures() throws(ArchiveError) -> [Erasure] { try erasures(where: "1") }

  /// Those of one person (`PersonHash`, by this catalogue's `hash`).
  public func erasures(of person: Hash128) throws(ArchiveError) -> [Erasure] {
    try erasures(where: "1").filter { $0.person == person }
  }

  func openErasures() throws(ArchiveError) -> [Erasure] {
    try erasures(where: "finished IS NULL")
  }

  private func erasures(where condition: String) throws(ArchiveError) -> [Erasure] {
    do throws(DatabaseError) {
      let rows = try database.prepare(
        """
        SELECT id, person, epoch, offset, time, parts, events, finished FROM erasures
        WHERE \(condition) ORDER BY id
        """)
      var erasures: [Erasure] = []
      while try rows.step() {
        let bytes = rows.bytes(1)
        guard bytes.count == 16 else { continue }
        let span = unsafe bytes.span.bytes
        erasures.append(
          Erasure(
            id: rows.integer(0),
            person: Hash128(high: span.bigEndian(at: 0), low: span.bigEndian(at: 8)),
            place: Position(epoch: UInt32(clamping: rows.integer(2)), offset: rows.unsigned(3)),
            time: rows.integer(4), parts: rows.unsigned(5), events: rows.unsigned(6),
            finished: rows.isNull(7) ? nil : rows.integer(7)))
      }
      return erasures
    } catch {
      throw ArchiveError(error)
    }
  }

  /// Inside the archiver's transaction.
  func request(_ entries: [ForgottenPeople.Entry]) throws(DatabaseError) {
    let put = try database.prepare("INSERT INTO erasures VALUES (NULL, ?, ?, ?, ?, 0, 0, NULL)")
    for entry in entries {
      try entry.bind(to: put)
      try put.run()
    }
  }

  /// Puts a part without some persons' events in the place of another, and counts it for them.
  ///
  /// - Returns: false, and nothing is changed, when the old part is no longer there.
  func erase(
    _ old: Part, _ new: NewPart?, events: [Int64: UInt64]
  ) throws(ArchiveError) -> Bool {
    do throws(DatabaseError) {
      return try database.transaction { () throws(DatabaseError) in
        guard try swap([old], for: new.map { [$0] } ?? []) else { return false }
        let count = try database.prepare(
          "UPDATE erasures SET parts = parts + 1, events = events + ? WHERE id = ?")
        for (id, erased) in events {
          try count.bind(1, erased)
          try count.bind(2, id)
          try count.run()
        }
        return true
      }
    } catch {
      throw ArchiveError(error)
    }
  }

  func finish(_ erasures: [Erasure], at time: Int64) throws(ArchiveError) {
    do throws(DatabaseError) {
      try database.transaction { () throws(DatabaseError) in
        let finish = try database.prepare("UPDATE erasures SET finished = ? WHERE id = ?")
        for erasure in erasures {
          try finish.bind(1, time)
          try finish.bind(2, erasure.id)
          try finish.run()
        }
      }
      // What was deleted has been overwritten in the file; the log still has it until then.
      try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    } catch {
      throw ArchiveError(error)
    }
  }
}
