internal import BusProtocol
internal import Database
internal import SinkState

extension Catalogue {
  /// What the archiver keeps beside its parts.
  struct SinkContents {
    var progress: SinkProgress?
    var doubles: Doubles
    var forgotten: ForgottenPeople
  }

  func sinkContents(horizon: Int) throws(ArchiveError) -> SinkContents {
    do throws(DatabaseError) {
      return SinkContents(
        progress: try SinkTables.load(database),
        doubles: try DoublesTables.load(database, key: hash, horizon: horizon),
        forgotten: try ForgottenTables.load(database, key: hash))
    } catch {
      throw ArchiveError(error)
    }
  }

  /// Enters a part whose file has its name, with the cursor behind it and everything else that was
  /// decided on the way: all of it or nothing.
  func commit(_ core: ArchiverCore, _ part: NewPart?) throws(ArchiveError) {
    do throws(DatabaseError) {
      try database.transaction { () throws(DatabaseError) in
        if let part { try add(part) }
        try SinkTables.store(core.progress, in: database)
        try DoublesTables.store(core.doubles, in: database)
        try ForgottenTables.store(core.forgotten, in: database)
        try request(core.requests)
      }
    } catch {
      throw ArchiveError(error)
    }
  }

  /// The ranges of positions that parts cover from `place` on.
  func ranges(from place: Position) throws(ArchiveError) -> [ClosedRange<Position>] {
    try parts(PartFilter(from: place)).map(\.coveredPositions)
  }
}
